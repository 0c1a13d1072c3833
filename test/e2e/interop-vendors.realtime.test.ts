import assert from 'node:assert/strict';
import path from 'node:path';
import { before, describe, it, type TestContext } from 'node:test';
import { packageRoot } from '../../src/files/package-root.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { startSimProcess } from '../contract/sim-process.ts';
import { type Python, pythonWith, runPython } from '../interop/python-venv.ts';
import { needs } from '../needs.ts';

/** Vendors' clients connect to fixed ports: each simulator gets its own loopback address. */
const CLIENT_TIMEOUT_MS = 30_000;

async function seenBy(python: Python, t: TestContext, script: string, args: readonly string[]) {
  if (!python.ok) {
    t.skip(python.why);
    return null;
  }
  const file = path.join(packageRoot, 'test', 'interop', script);
  const answer = await runPython(python.python, [file, ...args], CLIENT_TIMEOUT_MS);
  assert.equal(answer.code, 0, answer.stderr.slice(-2000));
  return JSON.parse(answer.stdout.trim().split('\n').at(-1)!) as Record<string, never>;
}

describe('ur_rtde and the simulated UR controller', { skip: needs('Linux') }, () => {
  let python: Python = { ok: false, why: 'not looked for' };
  before(async () => {
    python = await pythonWith('rtde_receive', 'ur_rtde==1.6.5');
  });

  for (const [series, hz] of [
    ['cb3', 125],
    ['e', 500],
  ] as const)
    it(`reads a ${series} at ${hz} Hz and switches it on`, async (t) => {
      const host = series === 'cb3' ? '127.0.0.77' : '127.0.0.78';
      const sim = await startSimProcess(['ur', '--series', series, '--host', host]);
      try {
        const seen = await seenBy(python, t, 'ur_rtde_client.py', [host, String(hz)]);
        if (seen === null) return;
        const { connected, q, pose, modes, said, safety, runtime, clock } = seen as unknown as {
          connected: boolean;
          q: number[];
          pose: number[];
          modes: number[];
          said: string[];
          safety: number;
          runtime: number;
          clock: number;
        };
        assert.ok(connected);
        loadModel('ur3').homeRad.forEach((rad, i) => {
          assert.ok(Math.abs(q[i]! - rad) < 1e-6);
        });
        // The UR3's flange in that pose, computed by hand from its DH rows: 0.21325 + 0.08535, 0.11235,
        // 0.1519 + 0.24365 − 0.0819.
        [0.2986, 0.11235, 0.31365].forEach((m, i) => {
          assert.ok(Math.abs(pose[i]! - m) < 1e-6, `${pose}`);
        });
        assert.deepEqual(modes, [3, 5, 7]);
        assert.deepEqual(said, ['Robotmode: POWER_OFF', 'Robotmode: IDLE', 'Robotmode: RUNNING']);
        assert.equal(safety, 1);
        assert.equal(runtime, 1);
        assert.ok(Math.abs(clock - 1) < 0.1, `the controller's clock runs at ${clock}`);
      } finally {
        await sim.stop();
      }
    });
});

describe('xarm-python-sdk and the simulated control box', {
  skip: needs('Linux'),
}, () => {
  let python: Python = { ok: false, why: 'not looked for' };
  before(async () => {
    python = await pythonWith('xarm', 'xarm-python-sdk==1.18.4');
  });

  for (const report of ['real', 'normal'] as const)
    it(`connects, enables and servos with the ${report} report`, async (t) => {
      const host = report === 'real' ? '127.0.0.79' : '127.0.0.80';
      const sim = await startSimProcess(['xarm6', '--host', host, '--command', '0']);
      try {
        const port = /command (\d+)/.exec(sim.ready)![1]!;
        const seen = await seenBy(python, t, 'xarm_sdk_client.py', [host, port, report]);
        if (seen === null) return;
        const { connected, axis, codes, mode, state, errors, to, reported, stopped, ...more } =
          seen as unknown as {
            connected: boolean;
            axis: number;
            codes: number[];
            mode: number;
            state: [number, number];
            errors: [number, number[]];
            to: [number, number[]];
            reported: number[];
            stopped: [number, number];
            gripper: [number, number];
            gripperError: [number, number];
          };
        assert.ok(connected);
        assert.equal(axis, 6);
        assert.ok(
          codes.every((code) => code === 0),
          `${codes}`,
        );
        assert.equal(mode, 1);
        assert.deepEqual(
          [state, errors],
          [
            [0, 2],
            [0, [0, 0]],
          ],
        );
        assert.ok(Math.abs(to[1][0]! - 0.25) < 1e-3, `${to[1]}`);
        assert.ok(Math.abs(reported[0]! - 0.25) < 1e-3, `${reported}`);
        assert.deepEqual(stopped, [0, 4]);
        assert.deepEqual(
          [more.gripper, more.gripperError],
          [
            [0, 300],
            [0, 0],
          ],
        );
      } finally {
        await sim.stop();
      }
    });
});
