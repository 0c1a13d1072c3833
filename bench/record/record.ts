import { mkdtempSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Given, JSON_OPTION, numberOption, type Verb } from '../../src/cli/arguments.ts';
import { percentiles } from '../../src/core/statistics/percentiles.ts';
import { ManualClock } from '../../src/core/time/clock.ts';
import type { ReceivedFrame } from '../../src/messages/recording.ts';
import { emptyRow } from '../../src/messages/ring-row.ts';
import { emptyTraceRecord } from '../../src/messages/trace-record.ts';
import { EpisodeRecorder } from '../../src/record/recorder.ts';
import { finishEpisode, type RecoveredEpisode, recoverEpisode } from '../../src/record/recover.ts';
import { received, START_NS, WALL_NS } from '../../src/record/test-episode.ts';
import { print } from '../bench.ts';
import { environment } from '../environment.ts';

const CAMERAS = ['front', 'wrist'];
const JPEG_BYTES = 50_000;
const JOINTS = 6;
const LEAST_TIMES_REALTIME = 20;
const MOST_RECOVERY_S = 10;

/** Two cameras at 30 Hz and rows at 100 Hz from memory, written as fast as possible. */
function record(
  dir: string,
  seconds: number,
): { file: string; tookS: number; bytes: number; slowestMs: number[] } {
  const clock = new ManualClock(START_NS);
  const pool = CAMERAS.map((name, c) =>
    Array.from({ length: 10 }, (_, n) => received(name, n, c, JPEG_BYTES)),
  );
  const newest = new Map<string, ReceivedFrame>();
  let file = '';
  const recorder = new EpisodeRecorder({
    dir,
    task: 'bench',
    startsAtEngagement: false,
    robot: 'bench',
    joints: Array.from({ length: JOINTS }, (_, i) => `joint_${i + 1}`),
    hasGripper: true,
    cameras: CAMERAS,
    rateHz: 100,
    rig: {},
    version: '0.0.0',
    owner: { pid: process.pid, host: 'bench' },
    join: { staleNs: 150e6, missingNs: 1000e6 },
    limits: {},
    minFreeBytes: 0,
    newestAt: (camera) => newest.get(camera) ?? null,
    clock,
    wallNs: () => WALL_NS,
    onSkipped: () => {},
    onSaved: (_, saved) => {
      file = saved;
    },
  });
  const row = emptyRow(JOINTS);
  const trace = emptyTraceRecord();
  const blocksMs: number[] = [];
  const startedMs = performance.now();
  recorder.request({ kind: 'record', action: 'start' });
  for (let i = 0; i < seconds * 100; i++) {
    clock.advanceBy(10e6);
    const nowNs = clock.nowNs();
    if (Math.floor(i * 0.3) !== Math.floor((i - 1) * 0.3))
      for (const [c, name] of CAMERAS.entries()) {
        const frame = pool[c]![i % 10]!;
        newest.set(name, {
          ...frame,
          captureNs: nowNs,
          captureOperatorNs: nowNs - 20e6,
          arrivedNs: nowNs - 1e6,
        });
      }
    const blockMs = performance.now();
    row.seq = trace.seq = i + 1;
    row.sampledNs = trace.sampledNs = nowNs;
    row.engaged = true;
    row.supervisor = 'engaged';
    for (let j = 0; j < JOINTS; j++) row.stateRad[j] = row.commandRad[j] = Math.sin(i / 100 + j);
    recorder.row(row);
    recorder.trace(trace);
    recorder.tick();
    blocksMs.push(performance.now() - blockMs);
  }
  recorder.close();
  const tookS = (performance.now() - startedMs) / 1000;
  const spread = percentiles(blocksMs)!;
  return { file, tookS, bytes: statSync(file).size, slowestMs: [spread.p50, spread.p99, spread.max] };
}

function timed(recover: () => RecoveredEpisode): { found: RecoveredEpisode; tookS: number } {
  const startedMs = performance.now();
  const found = recover();
  return { found, tookS: (performance.now() - startedMs) / 1000 };
}

export const recordBench: Verb = {
  name: 'record',
  usage: '[--seconds S] [--mb MB]',
  about: 'Writes an episode with two cameras from memory, then recovers a large truncated one.',
  details: `Requirements: at least ${LEAST_TIMES_REALTIME} times real time; a truncated gigabyte recovered within ${MOST_RECOVERY_S} s.`,
  options: {
    seconds: { type: 'string', value: 'S', about: 'length of the episode written (default: 60)' },
    mb: { type: 'string', value: 'MB', about: 'size of the file recovered (default: 1024)' },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    const seconds = numberOption(given, 'seconds', 1, 3600) ?? 60;
    const megabytes = numberOption(given, 'mb', 8, 16_384) ?? 1024;
    const dir = mkdtempSync(path.join(tmpdir(), 'farhand-record-bench-'));
    try {
      const written = record(dir, seconds);
      const perSecond = written.bytes / seconds;
      const timesRealtime = seconds / written.tookS;
      const large = record(dir, Math.ceil((megabytes * 2 ** 20 * 1.02) / perSecond));
      truncateSync(large.file, megabytes * 2 ** 20);
      const copied = timed(() => recoverEpisode(large.file, path.join(dir, 'copy.mcap'), '0.0.0'));
      renameSync(large.file, `${large.file}.part`);
      const finished = timed(() => finishEpisode(`${large.file}.part`, '0.0.0'));
      const mostS = (MOST_RECOVERY_S * Math.max(megabytes, 100)) / 1024;
      const passed = timesRealtime >= LEAST_TIMES_REALTIME && Math.max(copied.tookS, finished.tookS) <= mostS;
      const [p50 = 0, p99 = 0, max = 0] = written.slowestMs;
      const mbPerS = written.bytes / written.tookS / 1e6;
      const { rows, durationS } = copied.found;
      print(
        given,
        {
          ...{ seconds, mbPerS, timesRealtime, rowMs: { p50, p99, max }, recoveredMb: megabytes, rows },
          ...{ copyS: copied.tookS, inPlaceS: finished.tookS, passed, environment: environment() },
        },
        `${seconds} s of 100 Hz rows with two cameras (${(written.bytes / 1e6).toFixed(0)} MB) in ${written.tookS.toFixed(2)} s: ` +
          `${timesRealtime.toFixed(0)} times real time, ${mbPerS.toFixed(0)} MB/s\n` +
          `  per row p50 ${p50.toFixed(3)} ms, p99 ${p99.toFixed(2)} ms, max ${max.toFixed(1)} ms\n` +
          `${megabytes} MB truncated, ${rows} rows over ${durationS.toFixed(0)} s: finished in place in ${finished.tookS.toFixed(2)} s, ` +
          `recovered to a copy in ${copied.tookS.toFixed(2)} s\n` +
          (passed ? 'requirements met' : 'REQUIREMENT NOT MET'),
      );
      return passed ? 0 : 1;
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};
