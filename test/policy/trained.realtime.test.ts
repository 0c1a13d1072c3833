import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import type { Observation } from '../../src/policy/observation.ts';
import { openPolicy } from '../../src/policy/open-policy.ts';
import { absent, needsPackage } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { tinyOnnx } from './tiny-onnx.ts';

const RUNTIME = 'onnxruntime-node';
/** Not loaded here: it writes into the temporary folder. */
const noRuntime = existsSync(`node_modules/${RUNTIME}`)
  ? false
  : absent(RUNTIME, `npm install --no-save ${RUNTIME}`, false);
const missing = noRuntime || (await needsPackage('@mujoco/mujoco'));
/** Unseen ones; the table of docs/policies.md has two hundred. */
const SEEDS = '100000-100009';
const MODEL = 'examples/policy-small/sort.onnx';

describe('the trained policy of examples/policy-small', { skip: missing, timeout: 300_000 }, () => {
  it('sorts three cubes in at least eight of ten unseen seeds, through the whole rig', () => {
    const dir = temporaryFolder('trained');
    const args = ['world', 'run', '--task', 'sort', '--input', `policy:${MODEL}`, '--every', '8'];
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['bin/farhand', ...args, '--seeds', SEEDS, '--json'],
      { encoding: 'utf8', env: { ...process.env, TMPDIR: dir } },
    );
    rmSync(dir, { recursive: true });
    const last = stdout.trim().split('\n').at(-1) ?? '';
    assert.ok(last.startsWith('{'), stderr);
    const { seeds, successes } = JSON.parse(last) as { seeds: number; successes: number };
    assert.equal(seeds, 10);
    assert.ok(successes >= 8, stdout);
  });
});

describe('an ONNX file that is not what it says', { skip: missing, timeout: 120_000 }, () => {
  const facts = {
    ...{ fps: 10, rows: 1, joints: ['a', 'b', 'c', 'd', 'e', 'f'], gripper: true, cameras: [] },
    ...{ widthPx: 8, heightPx: 8, task: '', row0: 'observation' },
  };
  const dir = temporaryFolder('tiny');
  const observation = {
    state: { positionsRad: [1, 2, 3, 4, 5, 6], gripper: 0.5 },
    frames: {},
  } as unknown as Observation;
  const tries = async (bytes: Uint8Array) => {
    const file = path.join(dir, 'tiny.onnx');
    writeFileSync(file, bytes);
    // The runtime writes into the temporary folder.
    process.env['TMPDIR'] = dir;
    const policy = await openPolicy(file);
    try {
      return await policy.infer(observation, AbortSignal.timeout(30_000));
    } finally {
      policy.close();
    }
  };

  it('answers are rejected, with what they are and what the file declares; a correct one is used', async () => {
    assert.deepEqual([...(await tries(tinyOnnx('Identity', facts))).values], [1, 2, 3, 4, 5, 6, 0.5]);
    await assert.rejects(tries(tinyOnnx('Shape', facts)), /output is int64 \[2\], not float32 \[1, 1, 7\]/);
    await assert.rejects(tries(tinyOnnx('Transpose', facts)), /output is float32 \[7, 1\]/);
    await assert.rejects(tries(tinyOnnx('Identity', facts, 'other')), /no output `actions`/);
    await assert.rejects(
      tries(tinyOnnx('Identity', { ...facts, gripper: false })),
      /Got: 6 Expected: 7|invalid dim/i,
    );
  });

  it('a file that was cut, or describes nothing, is reported when it is opened', async () => {
    const whole = tinyOnnx('Identity', facts);
    await assert.rejects(tries(whole.subarray(0, whole.length - 20)), { code: 'policy-failed' });
    await assert.rejects(tries(whole.subarray(0, 100)), { code: 'bad-config' });
    const trained = readFileSync(MODEL);
    await assert.rejects(tries(trained.subarray(0, trained.length / 2)), { code: 'bad-config' });
    await assert.rejects(tries(tinyOnnx('Identity', { ...facts, fps: 1e9 })), { code: 'bad-config' });
    rmSync(dir, { recursive: true });
  });
});
