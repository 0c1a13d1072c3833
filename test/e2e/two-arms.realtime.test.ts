import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { neighbourOf } from '../../src/geometry/neighbour.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { createClearanceField } from '../../src/robot/supervisor/collision.ts';
import { supervisorConfig } from '../../src/robot/supervisor/supervisor-config.ts';
import { needs } from '../needs.ts';
import { APART_M, type Follower, TwoArms } from './two-arms-rig.ts';

const skip = needs('Linux');
/** Margin of the pair, and the clearance below which an approach is slowed down. */
const NEAR_M = 0.08 + 0.05;

const model = loadModel('dk1');
const pair = supervisorConfig.parse({
  pair: { model: 'dk1', port: 1, otherPort: 2, baseXyzM: [0, APART_M, 0] },
}).pair;
const field = createClearanceField(model, {
  groundZM: null,
  obstacles: [],
  workspace: null,
  neighbour: { ...neighbourOf(pair, model)!, marginM: 0 },
});
const clearancesM = new Float64Array(field.size);

/** Between the two simulated arms themselves, without margin. */
function betweenM({ right, left }: TwoArms): number {
  field.placeNeighbour(left.jointsRad);
  field.measure(right.jointsRad, clearancesM);
  return Math.min(...[...clearancesM].filter((_, k) => field.names[k]!.includes('other arm')));
}

const furthest = (a: readonly number[], b: readonly number[]): number =>
  Math.max(...a.map((rad, i) => Math.abs(rad - b[i]!)));

describe('two DK1 followers, led by both hands over RCTP', { skip }, () => {
  let two: TwoArms;
  // Six processes, two of them on simulated serial lines.
  before(
    async () => {
      two = await TwoArms.start();
    },
    { timeout: 120_000 },
  );
  after(() => two?.end());

  it('each follow their own hand', async () => {
    const { right, left } = two;
    two.seeHands();
    await two.engage();
    const rest = [right.jointsRad, left.jointsRad] as const;
    const away = ({ jointsRad }: Follower, from: readonly number[]) => furthest(jointsRad, from) > 0.03;
    await two.move([0, 0.06, 0], [0, 0, 0], 300);
    assert.ok(await two.until(() => away(right, rest[0])), 'the right one moves');
    assert.ok(furthest(left.jointsRad, rest[1]) < 0.01, 'the left one does not');
    await two.move([0, -0.06, 0], [0, 0.06, 0], 300);
    assert.ok(await two.until(() => away(left, rest[1]) && !away(right, rest[0])), 'now the left one alone');
  });

  it('do not touch when both hands meet', async () => {
    await two.engage();
    const beforeM = betweenM(two);
    let leastM = beforeM;
    const look = () => {
      leastM = Math.min(leastM, betweenM(two));
    };
    await two.move([-0.3, 0, 0], [0.3, 0, 0], 1200, look);
    await two.until(() => {
      look();
      return leastM < NEAR_M;
    });
    await two.move([0, 0, 0], [0, 0, 0], 500, look);
    assert.ok(beforeM > 0.2, `far at first: ${beforeM} m`);
    assert.ok(leastM < NEAR_M, `they came close: ${leastM} m`);
    assert.ok(leastM > 0.05, `and stayed apart: ${leastM} m`);
    await two.move([0.3, 0, 0], [-0.3, 0, 0], 600);
  });

  it('both stop when one is stopped', async () => {
    await two.engage();
    const sinceNs = monotonicClock.nowNs();
    const reported = two.left.entered('stopped', sinceNs);
    await two.right.ask('estop');
    await two.right.entered('stopped', sinceNs);
    assert.match((await reported).cause, /other arm is stopped/);
  });

  it('each hold when the other’s process is killed', async () => {
    const { right, left } = two;
    await two.engage();
    const killNs = monotonicClock.nowNs();
    left.robot.process.process.kill('SIGKILL');
    const { cause } = await right.entered('hold', killNs);
    assert.match(cause, /other arm is silent/);
  });
});
