import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { type SimulatedCycle, type SimulatedHand, Simulation } from '../../src/app/simulation.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { TargetJudge } from '../../src/robot/supervisor/target-judge.test.bench.ts';
import { holdsOf, judge, type Segment, type Verdict } from './evaluate.ts';

interface Case {
  name: string;
  rig: string;
  bounds: Record<string, number | boolean>;
  segments: Segment[];
}

const FOLDER = 'test/data/motion';
const CASES = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(path.join(FOLDER, name), 'utf8')) as Case);

const handsOf = ({ name }: Case): SimulatedHand[] =>
  gunzipSync(readFileSync(path.join(FOLDER, `${name}.jsonl.gz`)))
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as SimulatedHand);

async function simulate(
  { rig }: Pick<Case, 'rig'>,
  speedPercent: number,
  hands: readonly SimulatedHand[],
  more: readonly string[] = [],
) {
  const { config } = loadRig(rig, [`robot.speedPercent=${speedPercent}`, ...more]);
  const model = loadModel(config.model);
  const cycles: SimulatedCycle[] = [];
  const simulation = await Simulation.open(config, model, (cycle) => cycles.push(cycle));
  for (const hand of hands) simulation.feed(hand);
  simulation.finish(hands.at(-1)!.tS);
  return { cycles, model, config };
}

/** What the case's bounds do not allow. */
function complaints({ bounds, segments }: Case, cycles: readonly SimulatedCycle[], holds: number): string[] {
  const found: string[] = [];
  for (const segment of segments) {
    const verdict = judge(segment, cycles);
    for (const [key, bound] of Object.entries(bounds)) {
      // Coming back to where it began is bounded where the case says so.
      const value = verdict[key as keyof Verdict];
      if (value === undefined) continue;
      const isOk = key === 'sidewaysShare' ? value >= Number(bound) : value <= Number(bound);
      if (!isOk) found.push(`${segment.name}: ${key} ${value.toFixed(3)}, bound ${bound}`);
    }
  }
  if (bounds['holds'] !== undefined && holds > Number(bounds['holds'])) found.push(`${holds} holds`);
  return found;
}

describe('the motion cases', () => {
  // Half speed is where an arm is on time until its wrist turns back.
  for (const given of CASES)
    for (const speedPercent of given.name.startsWith('cone') ? [25, 50, 100] : [25, 100])
      it(`${given.name} at ${speedPercent} % stays within its bounds and the joints’ limits`, async () => {
        const hands = handsOf(given);
        const { cycles, model, config } = await simulate(given, speedPercent, hands);
        const { speedPercent: speed, accelerationPercent, jerkPercent } = config.robot;
        const limits = new TargetJudge(
          model.joints.map((joint) => ({
            ...joint,
            maxVelocityRadS: (joint.maxVelocityRadS * speed) / 100,
            maxAccelerationRadS2: (joint.maxAccelerationRadS2 * accelerationPercent) / 100,
            maxJerkRadS3: (joint.maxJerkRadS3 * jerkPercent) / 100,
          })),
        );
        for (const { tS, targetRad } of cycles) limits.wrote(tS * 1e9, targetRad);
        assert.deepEqual(complaints(given, cycles, holdsOf(hands, cycles)), []);
      });
});

/** Hand samples at 72 Hz through these places (operator frame, metres from the first sample), each reached after some seconds. */
function handsThrough(stops: readonly (readonly [number, number, number, number])[]): SimulatedHand[] {
  const hands: SimulatedHand[] = [];
  let from = [0, 0, 0];
  for (const [seconds, ...to] of stops) {
    const count = Math.round(seconds * 72);
    for (let n = 1; n <= count; n++) {
      const x = n / count;
      const share = x ** 3 * (10 + x * (6 * x - 15));
      hands.push({
        tS: hands.length / 72,
        positionM: [0, 1.2, -0.3].map((m, i) => m + from[i]! + share * (to[i]! - from[i]!)),
        quatXyzw: [0, 0, 0, 1],
        gripper: 0,
        clutch: true,
        tracking: true,
      });
    }
    from = to;
  }
  return hands;
}

describe('an arm pressed on a wall', () => {
  for (const speedPercent of [25, 100])
    it(`slides up and down it and leaves it at ${speedPercent} %`, async () => {
      const [up, ahead] = [0.08, -0.157];
      const hands = handsThrough([
        [0.5, 0, 0, 0],
        [2, 0, up, -0.04],
        [2.8, 0, up, ahead],
        [2.5, 0, up + 0.15, ahead],
        [2.5, 0, up, ahead],
        [2, 0, up, -0.04],
        [2, 0, up, -0.04],
      ]);
      const wallM = 0.348;
      const { cycles } = await simulate({ rig: 'piper' }, speedPercent, hands, [
        `robot.workspace={minM: [-2, -2, 0], maxM: [${wallM}, 2, 2]}`,
      ]);
      const heightAt = (tS: number) => cycles.find((cycle) => cycle.tS >= tS)!.toolM[2]!;
      const scale = 0.75;
      assert.ok(heightAt(7.8) - heightAt(5.3) > 0.95 * scale * 0.15);
      assert.ok(heightAt(7.8) - heightAt(10.3) > 0.95 * scale * 0.15);
      assert.ok(Math.max(...cycles.map(({ toolM }) => toolM[0]!)) <= wallM);
      const { toolM, wantedM, limitedBy } = cycles.at(-1)!;
      assert.ok(Math.hypot(...toolM.map((m, i) => m - wantedM[i]!)) < 5e-4);
      assert.deepEqual(limitedBy, []);
    });
});

describe('a line through a nearly straight wrist', () => {
  it('stays straight where the wrist has caught up with the hand', async () => {
    const hands = handsThrough([
      [0.5, 0, 0, 0],
      [1.5, 0.1, 0, 0],
      [1, 0.1, 0, 0],
      [1, -0.1, 0, 0],
      [2.5, -0.1, 0, 0],
    ]);
    const { cycles } = await simulate({ rig: 'piper' }, 100, hands);
    // From right to left, the tool moves along y alone.
    const line = cycles.filter(({ tS }) => tS >= 3);
    const [x, , z] = line[0]!.wantedM;
    const offM = Math.max(...line.map(({ toolM }) => Math.hypot(toolM[0]! - x!, toolM[2]! - z!)));
    assert.ok(offM < 1e-3, `${(1e3 * offM).toFixed(2)} mm off the line`);
  });
});
