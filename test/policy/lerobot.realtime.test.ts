import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { loadJpegCoder } from '../../src/camera/encoder.ts';
import type { Observation } from '../../src/policy/observation.ts';
import { openPolicy } from '../../src/policy/open-policy.ts';
import type { Chunk } from '../../src/policy/policy.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const python = process.env['FARHAND_PYTHON'];
const why =
  python === undefined
    ? 'set FARHAND_PYTHON to a Python with lerobot 0.4.4: pip install python/farhand-policy (8 GB)'
    : false;
const WIDTH = 7;

async function observation(): Promise<Observation> {
  const coder = await loadJpegCoder();
  const picture = { pixels: new Uint8Array(3 * 80 * 60).fill(90), widthPx: 80, heightPx: 60 };
  const frame = {
    captureNs: 0,
    ageMs: 1,
    encoding: 'jpeg' as const,
    bytes: coder.encode({ kind: 'rgb', ...picture }, 85),
  };
  return {
    ...{ tick: 0, instantNs: 0, task: 'stack', robot: 'ur3', joints: ['a', 'b', 'c', 'd', 'e', 'f'] },
    state: {
      ...{ positionsRad: [0, 1, 2, 3, 4, 5], gripper: 0.5, ageMs: 1, supervisor: 'engaged' },
      effort: [1, 0, 0, 0, 0, 0, 5],
    },
    frames: { front: frame },
  };
}

describe('a LeRobot checkpoint as a policy', { skip: why, timeout: 300_000 }, () => {
  for (const kind of ['act', 'diffusion'])
    it(`${kind} answers chunks through its own processors; a request without its camera fails and the next one works`, () =>
      answers(kind));
});

async function answers(kind: string): Promise<void> {
  const dir = temporaryFolder(kind);
  const checkpoint = path.join(dir, 'checkpoint');
  // torch leaves files in the temporary folder; they go with this one.
  const { TMPDIR } = process.env;
  process.env['TMPDIR'] = path.join(dir, 'python');
  mkdirSync(process.env['TMPDIR']);
  const args = ['test/interop/tiny_policy.py', checkpoint, String(WIDTH), kind];
  const made = spawnSync(python!, args, { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr.slice(-2000));
  const policy = await openPolicy(`lerobot:${checkpoint}`);
  try {
    const signal = AbortSignal.timeout(60_000);
    assert.deepEqual(policy.facts.cameras, ['front']);
    const seen = await observation();
    const first = await policy.infer(seen, signal);
    assert.deepEqual([first.rows, first.width], [8, WIDTH]);
    const isNearTen = ({ values }: Chunk) => values.every((value) => Math.abs(value - 10) < 0.1);
    assert.ok(isNearTen(first), `actions ${first.values}`);
    await assert.rejects(policy.infer({ ...seen, frames: {} }, signal), /camera front/);
    const next = await policy.infer(seen, signal);
    assert.ok(isNearTen(next));
    // Diffusion starts from noise.
    if (kind === 'act') assert.deepEqual(next, first);
  } finally {
    policy.close();
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}
