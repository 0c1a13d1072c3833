import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { correct } from '../../src/app/world/correct.ts';
import { NO_FACTS, type Policy } from '../../src/policy/policy.ts';
import { correctionsOf } from '../../src/record/export/prepared.ts';
import { openSource } from '../../src/record/export/sources.ts';
import { readInfo } from '../../src/record/reader.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { loadMujoco } from '../../src/world/mujoco.ts';
import { needsPackage } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const missing = (await needsPackage('@mujoco/mujoco')) || (await needsPackage('@julusian/jpeg-turbo'));
/** Enough for the person to notice, do one cube and hand back. */
const LIMIT_S = 15;

/** Never moves: a person must do everything. */
const stubborn: Policy = {
  facts: NO_FACTS,
  close() {},
  async infer({ state }) {
    const row = [...state.positionsRad, state.gripper];
    return { rows: 2, width: row.length, values: Float64Array.from([...row, ...row]) };
  },
};

describe('a scripted person beside a policy', { skip: missing, timeout: 120_000 }, () => {
  it('takes over where it is stuck, does one cube and hands back; the recording has its stretch and no step into it', async () => {
    const rig = loadRig('world', [
      'robot.options.task=sort',
      'operator.inputs={"joints":{},"page":{}}',
      'operator.input=joints',
      'cameras.list={}',
      'robot.network=none',
    ]).config;
    const dir = temporaryFolder('correct');
    const base = { mujoco: await loadMujoco(), rig, policy: stubborn, seed: 4, link: 'off' as const };
    const options = { ...base, fps: 10, everyRows: 10, inferenceMs: 0, limitS: LIMIT_S };
    const done = await correct(options, 1, dir);
    assert.equal(done.corrections, 1);
    const source = await openSource({ file: done.file!, info: await readInfo(done.file!) });
    const parts = correctionsOf(source);
    assert.equal(parts.length, 1);
    assert.ok(parts[0]!.rows.every(({ source }) => source === 'person'));
    assert.equal(source.rows.at(-1)!.source, 'policy');
    const first = source.rows.findIndex(({ source }) => source === 'person');
    const [before, row] = [source.rows[first - 1]!, source.rows[first]!];
    assert.deepEqual(row.commandRad, before.commandRad);
    assert.ok(done.score > 0, 'one cube is in the tray');
  });
});
