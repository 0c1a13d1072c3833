import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, statSync, truncateSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LocalRobot, startLocalRobot } from '../../src/app/local-robot.ts';
import { JointDesk } from '../../src/desk/joint-desk.ts';
import type { EpisodeRow } from '../../src/messages/recording.ts';
import { httpPolicy } from '../../src/policy/json-policy.ts';
import { type PolicyOptions, runPolicy } from '../../src/policy/run.ts';
import { exportCsv } from '../../src/record/export/export-csv.ts';
import { findEpisodes, openSource } from '../../src/record/export/sources.ts';
import { emptyInfo, rowOf, START_NS, startOf } from '../../src/record/test-episode.ts';
import { EpisodeWriter } from '../../src/record/writer.ts';
import { checkModel, playEpisode } from '../../src/replay/play.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { PATIENCE } from '../patience.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { farhand } from './farhand.ts';

const MODEL = loadModel('ur3');
const SECONDS = 1.5;
const ID = '20260921-141320-001';

/** Each joint swings away from home and back, starting and ending at rest. */
function swing(i: number): number[] {
  const away = 0.15 * (1 - Math.cos((2 * Math.PI * i) / (SECONDS * 100)));
  return MODEL.homeRad.map((rad, j) => rad + (j % 2 === 0 ? away : -away / 2) + 0.2);
}

function recordSwing(dir: string): void {
  const info = { ...emptyInfo(ID, 0, []), robot: MODEL.name, joints: MODEL.joints.map(({ name }) => name) };
  const writer = new EpisodeWriter(path.join(dir, `${ID}.mcap`), startOf({ ...info, hasGripper: true }));
  for (let i = 0; i <= SECONDS * 100; i++) {
    const atNs = START_NS + i * 10e6;
    const row: EpisodeRow = rowOf(i, MODEL.joints.length, new Map(), atNs);
    writer.row({ ...row, commandRad: swing(i), stateRad: swing(Math.max(0, i - 5)) }, atNs, new Map());
  }
  writer.close({ ...info, rows: SECONDS * 100 + 1, durationS: SECONDS });
}

describe('replay and policy on a simulated robot', () => {
  let dir = '';
  let robot: LocalRobot;
  let policy: ChildProcess | null = null;

  before(async () => {
    dir = temporaryFolder('replay');
    recordSwing(dir);
    // A shared machine stalls processes for longer than the default timeouts allow.
    const patient = [...PATIENCE, 'operator.inputs.joints.staleAfterMs=1000'];
    robot = await startLocalRobot(loadRig('demo', patient).config, {
      headless: true,
      say: () => {},
      onUrl: () => {},
    });
  });
  after(async () => {
    policy?.kill();
    await robot.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const policyOptions = (url: string): PolicyOptions => ({
    rig: robot.rig,
    policy: httpPolicy(url),
    task: 'swing',
    fps: 20,
    everyRows: 1,
    timeoutMs: 2000,
    staleAfterMs: 1000,
    durationS: 3,
    isShadow: false,
    cameras: [],
    frames: { newest: () => null },
    stop: new AbortController().signal,
    onCounts: () => {},
  });

  it('moves slowly to the first pose, then plays the recorded commands', async () => {
    const [source] = await findEpisodes([ID], dir);
    const { info, rows } = await openSource(source!);
    checkModel(info, MODEL);
    assert.throws(() => checkModel(info, loadModel('piper')), { code: 'model-mismatch' });
    const desk = await JointDesk.open(robot.rig);
    const said: string[] = [];
    let furthestRad = 0;
    const watch = setInterval(() => {
      const rad = desk.newest?.robot?.measuredRad[0] ?? 0;
      if (said.length > 1) furthestRad = Math.max(furthestRad, rad - swing(0)[0]!);
    }, 10);
    try {
      const playing = playEpisode(desk, {
        rows,
        model: MODEL,
        speed: 1,
        arm: true,
        say: (text) => said.push(text),
        onProgress: () => {},
      });
      const played = await Promise.race([playing, robot.failed]);
      assert.deepEqual(said, ['moving to the first pose', 'playing']);
      assert.ok(played.complete && played.rows === SECONDS * 100 + 1);
      // However late a busy machine makes it, the arm goes as far as the recording, no further, and back.
      assert.ok(Math.abs(furthestRad - 0.3) < 0.06, `${furthestRad} of 0.3 rad`);
      const measured = desk.newest?.robot?.measuredRad ?? [];
      for (const [i, rad] of rows.at(-1)!.commandRad.entries())
        assert.ok(Math.abs(rad - measured[i]!) < 0.02);
    } finally {
      clearInterval(watch);
      desk.close();
    }
  });

  it('does not move for a damaged recording, and says what is wrong with it', async () => {
    const folder = temporaryFolder('damaged');
    recordSwing(folder);
    const file = path.join(folder, `${ID}.mcap`);
    const [source] = await findEpisodes([file], folder);
    const { rows } = await openSource(source!);
    const middle = rows.length >> 1;
    const changed = (change: (row: EpisodeRow) => EpisodeRow) =>
      rows.map((row, i) => (i >= middle ? change(row) : row));
    const nan = changed((row) => ({ ...row, commandRad: row.commandRad.map(() => Number.NaN) }));
    const stale = changed((row) => ({ ...row, timeNs: rows[middle]!.timeNs }));
    const desk = await JointDesk.open(robot.rig);
    try {
      await until('telemetry', () => desk.newest?.robot != null);
      const from = [...desk.newest!.robot!.measuredRad];
      for (const [damaged, reason] of [
        [nan, /no command within the range/],
        [stale, /not later than the row before/],
      ] as const)
        await assert.rejects(
          playEpisode(desk, {
            ...{ rows: damaged, model: MODEL, speed: 1, arm: true },
            ...{ say: () => {}, onProgress: () => {} },
          }),
          reason,
        );
      await sleep(500);
      for (const [i, rad] of desk.newest!.robot!.measuredRad.entries())
        assert.ok(Math.abs(rad - from[i]!) < 1e-3, `joint ${i} moved`);
    } finally {
      desk.close();
    }
    truncateSync(file, statSync(file).size / 2);
    const { code, stderr } = await farhand(['replay', file, '--robot', 'operator.inputs.joints={}']);
    assert.equal(code, 2);
    assert.match(stderr, /is unfinished.*bad-episode[\s\S]*farhand recover/);
    rmSync(folder, { recursive: true, force: true });
  });

  it('runs the example policy through the same input', async () => {
    const [source] = await findEpisodes([ID], dir);
    const { file } = await exportCsv(dir, source!, false);
    policy = spawn(process.execPath, ['examples/policy-nearest/policy.mjs', file, '--port', '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(policy.stdout!, 'data')) as [Buffer];
    const url = /http:\S+/.exec(line.toString())![0];
    const desk = await JointDesk.open(robot.rig);
    const states = new Set<string>();
    let reachedRad = 0;
    const watch = setInterval(() => {
      const seen = desk.newest?.robot;
      if (!seen) return;
      states.add(seen.state);
      reachedRad = Math.max(reachedRad, seen.measuredRad[0]! - swing(0)[0]!);
    }, 20);
    try {
      const counts = await runPolicy(policyOptions(url));
      assert.ok(counts.answered > 30 && counts.malformed === 0, JSON.stringify(counts));
      assert.ok(states.has('engaged'));
      // The swing is 0.3 rad wide, and a policy that looks ahead cuts corners.
      assert.ok(reachedRad > 0.1, `${reachedRad} rad`);
    } finally {
      clearInterval(watch);
      desk.close();
    }
  });

  it('skips ticks with a stale camera and drops late answers, so the robot gets no commands', async () => {
    const server = createServer((_, response) => {
      setTimeout(() => response.end(JSON.stringify({ action: swing(0) })), 150);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const short = { ...policyOptions(url), timeoutMs: 100, durationS: 1.5 };
    const late = await runPolicy(short);
    assert.ok(late.late > 1 && late.answered === 0, JSON.stringify(late));
    const frame = { camera: 'front', captureNs: 1, encoding: 'jpeg', bytes: new Uint8Array(4) } as const;
    const old = { ...frame, captureOperatorNs: 1, uncertaintyNs: 0, arrivedNs: 1 };
    const stale = await runPolicy({ ...short, cameras: ['front'], frames: { newest: () => old } });
    assert.ok(stale.skipped['stale-camera'] > 8 && stale.asked === 0, JSON.stringify(stale));
    server.closeAllConnections();
    server.close();
  });
});
