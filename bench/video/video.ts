import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expectWords, type Given, JSON_OPTION, numberOption, type Verb } from '../../src/cli/arguments.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { type Percentiles, percentiles } from '../../src/core/statistics/percentiles.ts';
import { print, SECONDS_OPTION, secondsOf } from '../bench.ts';
import {
  type Environment,
  environment,
  environmentText,
  type LoadSeen,
  loadText,
  meterLoad,
} from '../environment.ts';
import { type Check, checkText, percentileTable } from '../text-table.ts';
import { type BrowserSeen, type Codec, type LinkSetting, VideoStage, type Watched } from './stage.ts';

const CAMERA = '{ source: test-pattern, fpsHz: 30, options: { grain: 46, shimmer: 8 } }';
/** A change of the link takes effect, and the rate settles. */
const SETTLE_S = 4;
/** A quarter of what JPEG uses over 5G. */
const VIDEO_KBIT_S = 1000;
const NARROW_KBIT_S = 1000;
const BITS_SHARE = 0.25;
/** What a narrow path may add to the age of pictures. */
const NARROW_MS = 150;

const LINKS: Record<string, LinkSetting> = {
  '5g': { profile: '5g' },
  wan: { profile: 'wan' },
  narrow: { profile: '5g', forward: { rate: { kbitS: NARROW_KBIT_S } } },
};
const CODECS: readonly Codec[] = ['jpeg', 'h264'];

interface Row {
  link: string;
  codec: Codec;
  ageMs: Percentiles | null;
  pictures: number;
  picturesHz: number;
  kbitS: number;
  inBrowser: BrowserSeen;
}

interface Report {
  environment: Environment;
  load: LoadSeen;
  rows: Row[];
}

export const videoBench: Verb = {
  name: 'video',
  usage: '[--seconds S] [--rounds N] [--links NAMES] [--json] [key=value …]',
  about:
    'Capture to screen as JPEG and as H.264 over 5G, a WAN and a narrow path. Exits 1 if H.264 is later.',
  details: `Two robots of a fleet, a console, a TURN server and Chromium, all on this machine; robot and TURN server are
joined by an emulated link. H.264 may use ${VIDEO_KBIT_S} kbit/s. The time is read from the pixels of the page at every display refresh. JPEG and H.264 alternate.
Needs nats-server, turnserver, ffmpeg and chromium. key=value: settings of the robots, such as fleet.videoKbitS=2000.`,
  options: {
    seconds: { ...SECONDS_OPTION, about: 'seconds to measure on each link (default: 15)' },
    rounds: { type: 'string', value: 'N', about: 'sessions of each codec (default: 1)' },
    links: { type: 'string', value: 'NAMES', about: `only these of ${Object.keys(LINKS).join(', ')}` },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(videoBench, given, 0, 0);
    const seconds = secondsOf(given, 15);
    const rounds = numberOption(given, 'rounds', 1, 100) ?? 1;
    const load = meterLoad();
    const rows = await measure(linksOf(given), seconds, rounds, [
      `fleet.videoKbitS=${VIDEO_KBIT_S}`,
      ...given.overrides,
    ]);
    const report: Report = { environment: environment(), load: load(), rows };
    const checks = checksOf(rows);
    print(given, { ...report, checks }, textOf(report, checks));
    return checks.every(({ ok }) => ok) ? 0 : 1;
  },
};

function linksOf(given: Given): string[] {
  const asked = given.values['links'];
  const names = typeof asked === 'string' ? asked.split(',') : Object.keys(LINKS);
  const unknown = names.find((name) => LINKS[name] === undefined);
  if (unknown === undefined) return names;
  throw new TeleopError('bad-option', `there is no link "${unknown}"`, {
    hint: `Choose from ${Object.keys(LINKS).join(', ')}, with commas.`,
  });
}

async function measure(
  links: readonly string[],
  seconds: number,
  rounds: number,
  settings: readonly string[],
): Promise<Row[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'farhand-bench-video-'));
  const stage = await VideoStage.open(folder, CAMERA, settings);
  const found = new Map<Codec, Watched[][]>(CODECS.map((codec) => [codec, []]));
  try {
    for (let round = 0; round < rounds; round++)
      for (const codec of CODECS)
        found.get(codec)!.push(await stage.watch(codec, settingsOf(links), SETTLE_S, seconds));
  } finally {
    await stage.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return links.flatMap((link, i) =>
    CODECS.map((codec) =>
      rowOf(
        link,
        codec,
        found.get(codec)!.map((round) => round[i]!),
        seconds,
      ),
    ),
  );
}

const settingsOf = (links: readonly string[]): LinkSetting[] => links.map((name) => LINKS[name]!);

function rowOf(link: string, codec: Codec, runs: readonly Watched[], seconds: number): Row {
  const pictures = runs
    .flatMap((run) => run.pictures)
    .filter(({ isVideo }) => isVideo === (codec === 'h264'));
  return {
    ...{ link, codec, pictures: pictures.length, picturesHz: pictures.length / seconds / runs.length },
    ageMs: percentiles(pictures.map(({ ageMs }) => ageMs)),
    kbitS: mean(runs.map(({ kbitS }) => kbitS)),
    inBrowser: {
      bufferMs: mean(runs.map(({ inBrowser }) => inBrowser.bufferMs)),
      decodeMs: mean(runs.map(({ inBrowser }) => inBrowser.decodeMs)),
      keys: sum(runs.map(({ inBrowser }) => inBrowser.keys)),
      nacks: sum(runs.map(({ inBrowser }) => inBrowser.nacks)),
      plis: sum(runs.map(({ inBrowser }) => inBrowser.plis)),
    },
  };
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;

/** JPEG shows fewer pictures where the path does not carry more, so bits per second alone do not compare. */
const kbitOf = ({ kbitS, picturesHz }: Row): number => kbitS / picturesHz;

function checksOf(rows: readonly Row[]): Check[] {
  const find = (link: string, codec: Codec) => rows.find((row) => row.link === link && row.codec === codec);
  const p95 = ({ ageMs }: Row) => ageMs?.p95 ?? Number.POSITIVE_INFINITY;
  const paths = ['5g', 'wan'].flatMap((link): Check[] => {
    const [jpeg, h264] = [find(link, 'jpeg'), find(link, 'h264')];
    if (jpeg === undefined || h264 === undefined) return [];
    return [
      {
        what: `${link}: capture to screen p95, H.264 against JPEG`,
        ok: p95(h264) <= p95(jpeg),
        found: `${p95(h264).toFixed(1)} ms, ${p95(jpeg).toFixed(1)} ms`,
      },
      {
        what: `${link}: bits of a picture on the screen, H.264 / JPEG`,
        ok: kbitOf(h264) <= BITS_SHARE * kbitOf(jpeg),
        found: `${(kbitOf(h264) / kbitOf(jpeg)).toFixed(3)} (at most ${BITS_SHARE}); all bits: ${(h264.kbitS / jpeg.kbitS).toFixed(2)}`,
      },
    ];
  });
  const [narrow, wide] = [find('narrow', 'h264'), find('5g', 'h264')];
  if (narrow === undefined || wide === undefined) return paths;
  return [
    ...paths,
    {
      what: `narrow: H.264 fits ${NARROW_KBIT_S} kbit/s`,
      ok: narrow.kbitS < NARROW_KBIT_S && p95(narrow) <= p95(wide) + NARROW_MS,
      found: `${narrow.kbitS.toFixed(0)} kbit/s, p95 ${p95(narrow).toFixed(1)} ms (at most ${NARROW_MS} more than 5g)`,
    },
  ];
}

function textOf({ environment: where, load, rows }: Report, checks: readonly Check[]): string {
  const ages = rows.map(({ link, codec, ageMs, pictures, picturesHz, kbitS }) => ({
    label: `${link}, ${codec}: ${picturesHz.toFixed(1)} Hz, ${kbitS.toFixed(0)} kbit/s`,
    ...{ percentiles: ageMs, count: pictures },
  }));
  return `${environmentText(where)}
Load      ${loadText(load)}

${percentileTable('Capture to screen, ms', ages)}

${rows
  .filter(({ codec }) => codec === 'h264')
  .map(browserText)
  .join('\n')}

${checks.map(checkText).join('\n')}`;
}

function browserText({ link, inBrowser: { bufferMs, decodeMs, keys, nacks, plis } }: Row): string {
  const times = `buffer ${bufferMs.toFixed(1)} ms, decoder ${decodeMs.toFixed(1)} ms`;
  return `${link}, h264 in the browser: ${times}, ${keys} key pictures, ${nacks} requests for packets, ${plis} for key pictures`;
}
