import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Given, Verb } from '../../src/cli/arguments.ts';
import { expectWords, JSON_OPTION } from '../../src/cli/arguments.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { exportLeRobot } from '../../src/record/export/export-lerobot.ts';
import { findEpisodes } from '../../src/record/export/sources.ts';
import { CODECS, type Codec } from '../../src/record/lerobot/video.ts';
import { print, SECONDS_OPTION, secondsOf } from '../bench.ts';
import { environment, environmentText, loadText, meterLoad } from '../environment.ts';
import { Progress } from '../progress.ts';
import { makeEpisode } from './episode.ts';

const CAMERAS = ['front', 'wrist'];
const [WIDTH_PX, HEIGHT_PX] = [640, 480];

export const exportBench: Verb = {
  name: 'export',
  usage: '[--seconds S] [--codec h264|av1]',
  about: 'Exports an episode with two 640 × 480 cameras as a LeRobot dataset: speed relative to real time.',
  options: {
    seconds: { ...SECONDS_OPTION, about: 'length of the episode (default: 60)' },
    codec: { type: 'string', value: 'NAME', about: 'h264 (default) or av1' },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(exportBench, given, 0, 0);
    const seconds = secondsOf(given, 60);
    const codec = (given.values['codec'] ?? 'h264') as Codec;
    if (!CODECS.includes(codec))
      throw new TeleopError('bad-option', `--codec ${codec} is not valid`, {
        hint: `Use ${CODECS.join(' or ')}.`,
      });
    const dir = mkdtempSync(path.join(tmpdir(), 'farhand-bench-export-'));
    try {
      const progress = new Progress(2, 1.2 * seconds);
      const made = await progress.during('making the episode', 0.2 * seconds, async () =>
        makeEpisode(dir, seconds, CAMERAS, WIDTH_PX, HEIGHT_PX),
      );
      const load = meterLoad();
      const startedMs = performance.now();
      const [reported] = await progress.during('exporting', seconds, async () =>
        exportLeRobot({
          dir: path.join(dir, 'dataset'),
          episodes: await findEpisodes([made.file], dir),
          codec,
          fps: 30,
          maxGapS: 1,
          version: 'bench',
        }),
      );
      const tookS = (performance.now() - startedMs) / 1000;
      return report(given, { codec, seconds, tookS, rows: reported!.rows, ...made }, load());
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

interface Result {
  codec: string;
  seconds: number;
  tookS: number;
  rows: number;
  file: string;
  bytesPerPicture: number;
}

function report(given: Given, result: Result, seen: ReturnType<ReturnType<typeof meterLoad>>): number {
  const { codec, seconds, tookS, rows, file, bytesPerPicture } = result;
  const times = seconds / tookS;
  const met = times > 1;
  const env = environment();
  const text = `${environmentText(env)}
Load      ${loadText(seen)}

episode   ${seconds} s, ${CAMERAS.length} cameras of ${WIDTH_PX} × ${HEIGHT_PX}, ${(bytesPerPicture / 1024).toFixed(0)} KiB a picture, ${(statSync(file).size / 2 ** 20).toFixed(0)} MiB
export    ${rows} rows in ${tookS.toFixed(1)} s with ${codec}, reading, encoding and checking: ${times.toFixed(2)} × real time

${met ? 'met   ' : 'missed'}  faster than real time`;
  print(given, { environment: env, load: seen, ...result, times, met }, text);
  return met ? 0 : 1;
}
