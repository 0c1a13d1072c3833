import { readFileSync } from 'node:fs';
import path from 'node:path';
import { loadJpegCoder } from '../camera/encoder.ts';
import { resampled } from '../camera/resample.ts';
import { TeleopError } from '../core/errors.ts';
import { packageRoot } from '../files/package-root.ts';
import { type CsvFile, exportCsv } from '../record/export/export-csv.ts';
import { type ExportedEpisode, exportLeRobot } from '../record/export/export-lerobot.ts';
import { exportPack } from '../record/export/export-pack.ts';
import { type EpisodeSource, findEpisodes } from '../record/export/sources.ts';
import { CODECS, type Codec } from '../record/lerobot/video.ts';
import { type Given, JSON_OPTION, numberOption, RIG_OPTION, type Verb } from './arguments.ts';
import { progressLine } from './progress.ts';
import { recordDirOf } from './record-dir.ts';

const LINE_PERIOD_MS = 5000;

export const exportVerb: Verb = {
  name: 'export',
  usage: 'lerobot|csv DIR --from EPISODE… | pack FILE --from EPISODE…',
  about: 'Exports recorded episodes as a LeRobot dataset or CSV files.',
  details: `EPISODE is an .mcap file, the id of an episode in the recordings folder, or a folder of recordings.
lerobot: LeRobotDataset v3.0, rows on a fixed grid, one mp4 per camera and episode. Adds to a dataset it made earlier.
csv: one file per episode, every row as it was recorded.
pack: one .npz for examples/policy-small/train.py, small enough to carry to a machine without network.
lerobot, pack: each row has the command that the robot had applied when its pictures were taken.`,
  examples: [
    'farhand export lerobot wave --from recordings',
    'farhand export csv tables --from recordings --label success',
  ],
  options: {
    from: { type: 'string', value: 'EPISODE…', about: 'what to export; may be several' },
    fps: {
      type: 'string',
      value: 'N',
      about: 'lerobot: rows per second (default: the camera’s rate, or 30)',
    },
    codec: { type: 'string', value: 'NAME', about: `lerobot: ${CODECS.join(' or ')} (default: h264)` },
    'max-gap': {
      type: 'string',
      value: 'S',
      about: 'lerobot: longest gap between rows to bridge (default: 1)',
    },
    label: { type: 'string', value: 'LABEL', about: 'only episodes with this label' },
    corrections: {
      type: 'boolean',
      about:
        'lerobot, pack: only what a person drove after taking over from a policy, each stretch an episode',
    },
    size: { type: 'string', value: 'WxH', about: 'pack: pictures at this size (default: 128x96)' },
    'picture-every': {
      type: 'string',
      value: 'ROWS',
      about: 'pack: every this many rows have pictures (default: 1)',
    },
    pictures: { type: 'boolean', about: 'csv: also write pictures (JPEG), distances (PNG) and sound (WAV)' },
    rig: RIG_OPTION,
    json: JSON_OPTION,
  },
  async run(given: Given) {
    const [kind, dir, ...more] = given.words;
    const from = given.values['from'];
    const isKnown = kind === 'lerobot' || kind === 'csv' || kind === 'pack';
    if (!isKnown || dir === undefined || from === undefined)
      throw new TeleopError(
        'bad-option',
        kind === undefined || isKnown
          ? 'export needs lerobot|csv DIR --from EPISODE…, or pack FILE --from EPISODE…'
          : `there is no export format "${kind}"`,
        {
          hint: 'For example `farhand export lerobot datasets/cups --from recordings`.',
        },
      );
    const label = given.values['label'];
    const found = await findEpisodes([String(from), ...more], recordDirOf(given));
    const episodes = found.filter(({ info }) => label === undefined || info.label === label);
    if (episodes.length === 0)
      throw new TeleopError('bad-option', `no episode has the label "${String(label)}"`, {
        hint: 'Labels are set on the recordings page or with `farhand record label`.',
      });
    if (kind === 'pack') return toPack(given, dir, episodes);
    return kind === 'csv' ? toCsv(given, dir, episodes) : toLeRobot(given, dir, episodes);
  },
};

async function toLeRobot(given: Given, dir: string, episodes: readonly EpisodeSource[]): Promise<number> {
  const json = given.values['json'] === true;
  const say = (text: string) => json || console.log(text);
  const progress = progressShown(json);
  const fps = numberOption(given, 'fps', 1, 240);
  if (fps !== null && !Number.isInteger(fps))
    throw new TeleopError('bad-option', `--fps ${fps} is not a whole number`, {
      hint: 'LeRobot needs whole frames per second: use 30 for 29.97.',
    });
  const reported = await exportLeRobot({
    dir,
    episodes,
    fps,
    codec: codecOf(given),
    maxGapS: numberOption(given, 'max-gap', 0.01, 3600) ?? 1,
    onlyCorrections: given.values['corrections'] === true,
    version: ownVersion(),
    onProgress: progress.update,
    onEpisode: (each) => {
      progress.done();
      say(episodeText(each));
    },
  });
  assertAny(reported.length);
  if (json) console.log(JSON.stringify({ dir, episodes: reported, checked: true }));
  else say(`${dir}: checked, no violations`);
  return 0;
}

const episodeText = ({ id, episode, rows, leftOut, recordedS, tookS }: ExportedEpisode): string =>
  episode === null
    ? `${id}: already in the dataset`
    : `${id}: episode ${episode}, ${rows} rows of ${recordedS.toFixed(1)} s in ${tookS.toFixed(1)} s${leftOut === 0 ? '' : `; skipped ${leftOut} recorded rows whose pictures are lost`}`;

/** A bar on a terminal, otherwise a line every few seconds. */
function progressShown(silent: boolean): {
  update: (id: string, done: number, total: number) => void;
  done: () => void;
} {
  let bar: { id: string; line: ReturnType<typeof progressLine> } | null = null;
  let shownMs = performance.now();
  return {
    update(id, done, total) {
      if (silent) return;
      if (bar?.id !== id) bar = { id, line: progressLine(`${id} encoding`) };
      bar.line.update(done, total);
      if (process.stderr.isTTY || performance.now() - shownMs < LINE_PERIOD_MS) return;
      shownMs = performance.now();
      console.error(`${id}: ${done} of ${total} pictures encoded`);
    },
    done() {
      bar?.line.done();
      bar = null;
    },
  };
}

const csvText = ({ file, rows, pictures, soundS }: CsvFile): string =>
  [
    `${file}: ${rows} rows`,
    ...(pictures > 0 ? [`${pictures} pictures`] : []),
    ...(soundS > 0 ? [`${soundS.toFixed(1)} s of sound`] : []),
  ].join(', ');

async function toCsv(given: Given, dir: string, episodes: readonly EpisodeSource[]): Promise<number> {
  const json = given.values['json'] === true;
  const files = [];
  for (const source of episodes) {
    const done = await exportCsv(dir, source, given.values['pictures'] === true);
    files.push(done);
    if (!json) console.log(csvText(done));
  }
  if (json) console.log(JSON.stringify({ dir, files }));
  return 0;
}

async function toPack(given: Given, file: string, episodes: readonly EpisodeSource[]): Promise<number> {
  const json = given.values['json'] === true;
  const [widthPx, heightPx] = sizeOf(given);
  const coder = await loadJpegCoder('install it: the pictures of a pack are decoded and encoded anew');
  const report = await exportPack({
    ...{ file, episodes, widthPx, heightPx },
    onlyCorrections: given.values['corrections'] === true,
    fps: numberOption(given, 'fps', 1, 240),
    maxGapS: numberOption(given, 'max-gap', 0.01, 3600) ?? 1,
    pictureEvery: numberOption(given, 'picture-every', 1, 100) ?? 1,
    decode: (jpeg, width, height) => {
      const picture = coder.decode(jpeg);
      return picture && resampled(picture, width, height).pixels;
    },
    onEpisode: (id, rows) => json || console.log(`${id}: ${rows} rows`),
  });
  assertAny(report.episodes);
  const { rows, pictures, sizeBytes } = report;
  if (json) console.log(JSON.stringify({ file, ...report }));
  else
    console.log(
      `${file}: ${report.episodes} episodes, ${rows} rows, ${pictures} pictures, ${(sizeBytes / 2 ** 20).toFixed(1)} MiB`,
    );
  return 0;
}

function assertAny(episodes: number): void {
  if (episodes > 0) return;
  throw new TeleopError('bad-option', 'no person took over from a policy in these episodes', {
    hint: 'Take over while `farhand policy` drives and a recording runs, or export without --corrections.',
  });
}

function sizeOf(given: Given): [number, number] {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(String(given.values['size'] ?? '128x96')) ?? [];
  const size: [number, number] = [Number(width), Number(height)];
  if (size.every((px) => px >= 16 && px <= 2048 && px % 16 === 0)) return size;
  throw new TeleopError('bad-option', `--size ${String(given.values['size'])} is not valid`, {
    hint: 'Width and height are multiples of 16, for example --size 128x96.',
  });
}

function codecOf(given: Given): Codec {
  const codec = given.values['codec'] ?? 'h264';
  const known = CODECS.find((name) => name === codec);
  if (known !== undefined) return known;
  throw new TeleopError('bad-option', `--codec ${String(codec)} is not valid`, {
    hint: `Use one of ${CODECS.join(', ')}.`,
  });
}

const ownVersion = (): string =>
  (JSON.parse(readFileSync(path.join(packageRoot, 'package.json'), 'utf8')) as { version: string }).version;
