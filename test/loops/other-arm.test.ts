import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createChain } from '../../src/geometry/chain.ts';
import { neighbourOf } from '../../src/geometry/neighbour.ts';
import { armMapperConfig, createArmMapper } from '../../src/mapping/arm-mapper.ts';
import { emptyHandSample } from '../../src/messages/hand-sample.ts';
import { surroundingsOf } from '../../src/operator/surroundings.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { createClearanceField } from '../../src/robot/supervisor/collision.ts';

const HAND_HZ = 72;
const PAIR = 'robot.pair={model: openarm-left, port: 4791, otherPort: 4792, sharedBase: true}';
const { config } = loadRig('openarm', [PAIR]);
const right = loadModel('openarm');
const left = loadModel('openarm-left');

/** The robot's own account of the distance between both arms, which shares no code with the guided motion. */
const field = createClearanceField(right, {
  groundZM: null,
  obstacles: [],
  workspace: null,
  neighbour: neighbourOf(config.robot.pair, left),
});
const clearancesM = new Float64Array(field.size);
function toOtherM(qRad: ArrayLike<number>, otherRad: ArrayLike<number>): number {
  field.placeNeighbour(otherRad);
  field.measure(qRad, clearancesM);
  return Math.min(...clearancesM.filter((_, k) => field.names[k]!.includes('other arm')));
}

/** A right hand that draws; positions are relative to where it engaged, in the robot's base frame. */
class Hand {
  readonly mapper = createArmMapper(
    right,
    armMapperConfig.parse({ filter: 'none' }),
    surroundingsOf(right, config.robot, left),
  );
  readonly qRad = Float64Array.from(right.homeRad);
  readonly toolM = new Float64Array(3);
  leastM = Number.POSITIVE_INFINITY;
  readonly #hand = emptyHandSample();
  readonly #chain = createChain(right);
  readonly #atM = [0, 0, 0];

  constructor() {
    this.#hand.quatXyzw.set([0, 0, 0, 1]);
    this.mapper.engage(this.#hand, right.homeRad);
  }

  move(byM: readonly number[], seconds: number): number[] {
    const fromM = [...this.#atM];
    const steps = Math.round(seconds * HAND_HZ);
    for (let n = 1; n <= steps; n++) {
      byM.forEach((m, i) => {
        this.#atM[i] = fromM[i]! + (n / steps) * m;
      });
      const [x, y, z] = this.#atM as [number, number, number];
      this.#hand.takenNs += 1e9 / HAND_HZ;
      this.#hand.positionM.set([-y, z, -x]);
      this.mapper.map(this.#hand, this.qRad);
      this.leastM = Math.min(this.leastM, toOtherM(this.qRad, left.homeRad));
    }
    this.#chain.frame(this.qRad, right.joints.length, this.toolM, new Float64Array(4));
    return [...this.toolM];
  }
}

describe('the other arm of a pair', () => {
  it('stops what presses on it; the rest of the motion goes on', () => {
    const hand = new Hand();
    hand.mapper.neighbourAt!(left.homeRad);
    const pressed = hand.move([0, 0.3, 0], 2);
    assert.equal(hand.mapper.guidance!.limitedBy, 'collision');
    const up = hand.move([0, 0, 0.1], 1);
    assert.ok(up[2]! - pressed[2]! > 0.095, `${up[2]! - pressed[2]!} m of 0.1 m`);
    assert.ok(hand.leastM >= config.robot.stopM, `${hand.leastM} m`);
    const away = hand.move([0, -0.3, -0.1], 2);
    assert.ok(Math.abs(away[1]! - hand.move([0, 0, 0], 1)[1]!) < 1e-3);
    assert.equal(hand.mapper.guidance!.limitedBy, '');
  });

  it('is nowhere while its pose is unknown: then only the robot keeps clear of it', () => {
    const hand = new Hand();
    hand.mapper.neighbourAt!(left.homeRad.map(() => Number.NaN));
    hand.move([0, 0.3, 0], 2);
    assert.ok(hand.leastM < config.robot.stopM, 'the motion would touch it');
  });
});
