import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runPolicySeed } from '../../src/app/world/policy-seed.ts';
import { NO_FACTS, type Policy } from '../../src/policy/policy.ts';
import { loadRig } from '../../src/rig/rig.ts';
import type { ProfileName } from '../../src/wire/emulator/profiles.ts';
import { loadMujoco } from '../../src/world/mujoco.ts';
import { needsPackage } from '../needs.ts';
import { xorshift } from '../xorshift.ts';

const FPS = 30;
const ROWS = 40;
const SPEED_RAD_S = 0.6;
const WRIST = 5;
const LIMIT_S = 6;
/** Connecting takes a second. */
const FULL_RAD = 0.8 * SPEED_RAD_S * (LIMIT_S - 1);
const missing = (await needsPackage('@mujoco/mujoco')) || (await needsPackage('@julusian/jpeg-turbo'));

/** Turns the wrist at a steady speed from where it sees it, with errors of its own in every answer. */
function sweeping(): Policy & { progressRad: () => number } {
  const random = xorshift(7);
  const seen: number[] = [];
  return {
    facts: NO_FACTS,
    close() {},
    progressRad: () => seen.at(-1)! - seen[0]!,
    async infer({ state }) {
      seen.push(state.positionsRad[WRIST]!);
      const error = state.positionsRad.map(() => 0.01 * (random() - 0.5));
      const values = new Float64Array(ROWS * 7);
      for (let row = 0; row < ROWS; row++) {
        for (let i = 0; i < 6; i++) values[row * 7 + i] = state.positionsRad[i]! + error[i]!;
        values[row * 7 + WRIST]! += SPEED_RAD_S * (row / FPS + 0.1);
      }
      return { rows: ROWS, width: 7, values };
    },
  };
}

describe('chunks on the clock of the robot', { skip: missing, timeout: 120_000 }, async () => {
  const mujoco = missing ? null! : await loadMujoco();
  const rig = loadRig('world', [
    'operator.inputs={"joints":{}}',
    'operator.input=joints',
    'cameras.list={}',
    'robot.network=none',
  ]).config;
  const run = async (link: ProfileName, inferenceMs: number, rowZero: 'request' | 'arrival') => {
    const policy = sweeping();
    const base = { mujoco, rig, policy, seed: 3, fps: FPS, everyRows: 5, limitS: LIMIT_S };
    const result = await runPolicySeed({ ...base, link, inferenceMs, rowZero });
    return { ...result, progressRad: policy.progressRad() };
  };

  for (const link of ['off', 'wifi-untuned'] as const)
    for (const inferenceMs of [0, 50, 150, 400])
      it(`${link}, ${inferenceMs} ms: no stall, no step at a switch larger than inside chunks, full speed`, async () => {
        const { counts, switchStepRad, insideStepRad, progressRad } = await run(link, inferenceMs, 'request');
        assert.equal(counts.stalls, 0);
        assert.ok(counts.answered > 10, `${counts.answered} answers`);
        assert.ok(switchStepRad <= insideStepRad, `${switchStepRad} against ${insideStepRad} rad`);
        assert.ok(progressRad > FULL_RAD, `${progressRad} rad`);
      });

  it('with row 0 at the arrival, the same policy at 400 ms is too slow: the test can see the fault', async () => {
    const { progressRad } = await run('off', 400, 'arrival');
    assert.ok(progressRad < FULL_RAD, `${progressRad} rad`);
  });
});
