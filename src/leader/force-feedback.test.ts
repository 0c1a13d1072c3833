import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { RobotModel } from '../geometry/robot-model.ts';
import { ForceFeedback } from './force-feedback.ts';

const MODEL = {
  joints: [{ origin: { xyzM: [0, 0, 0], rpyRad: [0, 0, 0] }, axis: [0, 1, 0] }],
  tool: { xyzM: [0, 0, 0], rpyRad: [0, 0, 0] },
} as unknown as RobotModel;
const MS = 1e6;
const CYCLE_MS = 5;

describe('force feedback', () => {
  let force: ForceFeedback;
  let nowNs: number;
  const q = new Float64Array(1);
  const joints = [{ maxNm: 0.1, stepRad: 0.0015 }];
  const links = [{ massKg: 0.2, centreM: [0.05, 0, 0] as const }];

  beforeEach(() => {
    nowNs = 1e9;
    q[0] = 0;
    force = new ForceFeedback({ model: MODEL, links, joints }, { forceGain: 0.02, gravityGain: 0.5 });
  });
  const gravityNm = -0.5 * 0.2 * 9.81 * 0.05;
  const turn = (cycles: number, follows = true, externalNm: number | null = -2, radS = 0): number => {
    for (let i = 0; i < cycles; i++) {
      nowNs += CYCLE_MS * MS;
      q[0]! += radS * CYCLE_MS * 1e-3;
      if (externalNm !== null) force.robot({ state: 'engaged', externalNm: [externalNm] }, nowNs);
      force.turn(nowNs, q, follows);
    }
    return force.torquesNm[0]!;
  };
  const near = (nm: number, expected: number): void =>
    assert.ok(Math.abs(nm - expected) < 1e-9, `${nm}, not ${expected}`);

  it('reflects the robot’s torque beside the weight, within the limit', () => {
    near(turn(50), -0.04 + gravityNm);
    near(turn(50, true, -300), -0.1);
    near(turn(50, true, Number.NaN), gravityNm);
  });

  it('ends reflection in the cycle in which the person lets go, and keeps the weight carried', () => {
    turn(50);
    near(turn(1, false), gravityNm);
    assert.equal(force.unfelt, 'let go');
  });

  it('ends it after 0.1 s without a state, and in the cycle of a state that is not engaged or knows no effort', () => {
    turn(50);
    near(turn(20, true, null), -0.04 + gravityNm);
    near(turn(1, true, null), gravityNm);
    assert.equal(force.unfelt, 'silence');
    turn(50);
    for (const state of ['hold', 'stopped', 'armed', 'idle', 'disconnected'] as const) {
      force.robot({ state, externalNm: [-3] }, nowNs);
      force.turn(nowNs, q, true);
      near(force.torquesNm[0]!, gravityNm);
      assert.equal(force.unfelt, 'not engaged');
    }
    force.robot({ state: 'engaged', externalNm: null }, nowNs);
    force.turn(nowNs, q, true);
    assert.equal(force.unfelt, 'effort unknown');
    force.robot({ state: 'engaged', externalNm: [-3, 1] }, nowNs);
    force.turn(nowNs, q, true);
    assert.equal(force.unfelt, 'effort unknown');
  });

  it('leaves a joint that runs away without any torque, until the person lets go', () => {
    turn(50);
    near(turn(30, true, -2, -14), 0);
    assert.equal(force.unfelt, 'runaway');
    near(turn(100, true), 0);
    turn(1, false);
    turn(50);
    assert.equal(force.unfelt, '');
  });

  it('does not take a late cycle for a runaway', () => {
    turn(50, true, -2, 2);
    // Read and turned 200 ms late, and the next reading right after it.
    nowNs += 195 * MS;
    q[0]! += 0.4;
    turn(1, true, -2, 2);
    q[0]! += 0.05;
    turn(20, true, -2, 2);
    assert.notEqual(force.unfelt, 'runaway');
  });
});
