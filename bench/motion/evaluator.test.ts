import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createChain } from '../../src/geometry/chain.ts';
import { spreadPose } from '../../src/geometry/pairings.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { HandScript, wantedOf } from './hand-script.ts';
import { type Judged, judge } from './judge.ts';
import type { Motion } from './motions.ts';
import { follow } from './reachable.ts';
import { add, armOf, norm, pose } from './screw-kinematics.ts';

const MODELS = ['ur3', 'ur3e', 'piper', 'xarm6', 'openarm', 'dk1', 'vlai-l1-right'];

describe('the evaluator of the motion bench', () => {
  it('agrees with the program on every frame of every arm: screws against link transforms', () => {
    for (const name of MODELS) {
      const model = loadModel(name);
      const [arm, chain] = [armOf(model), createChain(model)];
      const frames = new Float64Array(12 * (arm.joints + 1));
      for (let n = 1; n <= 20; n++) {
        const qRad = spreadPose(model, n);
        chain.frames(qRad, frames);
        pose(arm, qRad).frames.forEach(({ r, p }, k) => {
          const theirs = frames.subarray(12 * k, 12 * k + 12);
          for (let row = 0; row < 3; row++)
            [r[3 * row]!, r[3 * row + 1]!, r[3 * row + 2]!, p[row]!].forEach((value, column) => {
              assert.ok(Math.abs(value - theirs[4 * row + column]!) < 1e-12, `${name} frame ${k}`);
            });
        });
      }
    }
  });

  it('follows a line where there is one, and stops where the arm ends', () => {
    const model = loadModel('ur3');
    const reacher = { model, arm: armOf(model), lead: 3, room: () => 1, selfRoom: () => 1 };
    assert.equal(follow(reacher, model.homeRad, [0, 1, 0], 0.1, 0).m, 0.1);
    assert.ok(follow(reacher, model.homeRad, [0, 0, 1], 1, 0).m < 0.3);
  });

  it('finds a bend, an overshoot and a wrong end of known size', () => {
    const model = loadModel('ur3');
    const arm = armOf(model);
    const script = new HandScript(1);
    const span = script.moveTo([0.2, 0, 0], 1, 1);
    const motion: Motion = {
      name: 'line',
      samples: script.samples,
      segments: [{ kind: 'line', name: 'line', ...span }],
      overrides: [],
    };
    const reacher = { model, arm, lead: 3, room: () => 1, selfRoom: () => 1 };
    const settings = {
      arm,
      lead: 3,
      homeRad: model.homeRad,
      scale: 1,
      limits: { velocityRadS: [], accelerationRadS2: [], jerkRadS3: [] },
      room: null,
      groundZM: null,
      stopM: 0,
    };
    const at = wantedOf(motion.samples, 1);
    const cycles = (off: (tS: number) => number[]): Judged[] =>
      Array.from({ length: 100 }, (_, n) => {
        const tS = span.fromS + (n / 100) * (span.toS - span.fromS);
        const way = add([-at(tS)[0]!, 0, 0], off(tS));
        const lengthM = norm(way);
        const along = lengthM > 0 ? way.map((value) => value / lengthM) : [1, 0, 0];
        const targetRad = follow(reacher, model.homeRad, along, lengthM, 0).qRad;
        return { tS, state: 'engaged', limitedBy: [], targetRad };
      });
    // The other way than the hand: all of it lies before the line begins.
    const found = judge(
      motion,
      cycles(() => [0, 0.004, 0]),
      settings,
    );
    assert.ok(found['offMm']! > 3.8 && found['offMm']! < 4.2, `${found['offMm']}`);
    assert.ok(found['beyondMm']! > 190, 'the wrong way is all overshoot');
    assert.equal(found['holds'], 0);
  });
});
