import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { describe, it } from 'node:test';
import { absent, needsPackage } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const RUNTIME = 'onnxruntime-node';
/** Not loaded here: it writes into the temporary folder. */
const noRuntime = existsSync(`node_modules/${RUNTIME}`)
  ? false
  : absent(RUNTIME, `npm install --no-save ${RUNTIME}`, false);
const missing = noRuntime || (await needsPackage('@mujoco/mujoco'));
/** Unseen ones; the table of docs/policies.md has two hundred. */
const SEEDS = '100000-100009';
const MODEL = 'examples/policy-small/stack.onnx';

describe('the trained policy of examples/policy-small', { skip: missing, timeout: 300_000 }, () => {
  it('stacks three cubes in at least eight of ten unseen seeds, through the whole rig', () => {
    const dir = temporaryFolder('trained');
    const args = ['world', 'run', '--task', 'stack', '--input', `policy:${MODEL}`, '--every', '2'];
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
