import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRetargeter, type Retargeter, retargetConfig } from '../../src/mapping/retarget/retargeter.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { makerModel, makerPoints } from './maker-kinematics.ts';
import {
  type Body,
  between,
  body,
  gapM,
  normals,
  PROPORTIONS,
  type Proportions,
  pinch,
  points,
  SHAPES,
  type Shape,
} from './people.ts';

/**
 * The bounds of retargeting by vectors, on manual time. The judge shares no code with what it judges: its people and
 * its kinematics of the robot are its own.
 */
const DEG = Math.PI / 180;
const PINCH_M = 0.003;
/** A joint that swings less at the hand's rate shows no clear phase. */
const SWING_RAD = 0.4;
const kinds = Object.keys(PROPORTIONS) as Proportions[];
const four = (value: number): number[] => [value, value, value, value];

class Judge {
  readonly q = new Float64Array(17);
  readonly #hands: Retargeter;
  readonly #version: 'v1' | 'v2';
  readonly #at = new Map<string, number>();

  constructor(version: 'v1' | 'v2', filter: boolean) {
    this.#version = version;
    const model = loadModel(`orca-${version}-right`);
    model.joints.forEach(({ name }, i) => {
      this.#at.set(name, i);
    });
    this.#hands = createRetargeter(model, retargetConfig.parse({ filter }));
  }

  /** A new person: nothing of the last one is left. */
  reset(): void {
    this.#hands.reset();
  }

  give(pointsM: Float64Array, atS: number): void {
    assert.equal(this.#hands.retarget(pointsM, 21, this.q, false, Math.round(atS * 1e9)), null);
  }

  tips(): number[][] {
    return makerPoints(makerModel(this.#version), (name) => this.q[this.#at.get(name)!]!);
  }

  /** How far the robot's gap between thumb and finger is from the person's. */
  pinchError(pointsM: Float64Array, finger: number): number {
    const tips = this.tips();
    const robotM = Math.hypot(...tips[0]!.map((value, k) => value - tips[finger + 1]![k]!));
    return Math.abs(robotM - gapM(pointsM, 4, 8 + 4 * finger));
  }
}

const noisy = (clean: Float64Array, normal: () => number): Float64Array =>
  clean.map((value) => value + 0.001 * normal());
const minimumJerk = (t: number): number => t * t * t * (10 - 15 * t + 6 * t * t);

/** All people who can reach, with their pinches: 8, 12 and 20 mm between the tips of a mean hand, in two styles. */
function* everyPinch() {
  for (const kind of kinds)
    for (const scale of [0.8, 0.9, 1, 1.1, 1.2])
      for (const finger of [0, 1, 2, 3])
        for (const mm of [8, 12, 20])
          for (const style of [0, 1] as const) {
            const who = body(kind, scale);
            const hand = points(who, pinch(who, finger, (mm / 1000) * scale, style));
            if (Math.abs(gapM(hand, 4, 8 + 4 * finger) - (mm / 1000) * scale) < 1e-4) yield { finger, hand };
          }
}
const PINCHES = [...everyPinch()];

for (const version of ['v2', 'v1'] as const)
  describe(`pinches of the ORCA ${version}`, () => {
    it('close like the person’s, from the first frame on, for all proportions and sizes', () => {
      const judge = new Judge(version, true);
      let [count, worst, cold] = [0, 0, 0];
      for (const { finger, hand } of PINCHES) {
        judge.reset();
        judge.give(hand, 0);
        cold = Math.max(cold, judge.pinchError(hand, finger));
        for (let i = 1; i < 12; i++) judge.give(hand, i / 72);
        worst = Math.max(worst, judge.pinchError(hand, finger));
        count++;
      }
      console.log(
        `${version}: ${count} pinches, worst ${(worst * 1000).toFixed(2)} mm, first frame ${(cold * 1000).toFixed(2)} mm`,
      );
      assert.ok(count > 700, `${count} people can reach`);
      assert.ok(worst < PINCH_M && cold < PINCH_M, `${worst} m, first frame ${cold} m`);
    });

    for (const [hz, noise, moveS] of [
      [60, false, 0.4],
      [60, false, 1.5],
      [60, true, 0.4],
      [72, true, 0.4],
      [90, true, 0.4],
      [72, true, 1],
    ] as const)
      it(`close in motion of ${moveS} s at ${hz} Hz${noise ? ' with 1 mm of noise' : ''}`, () => {
        const worst = moving(version, hz, noise, moveS);
        console.log(
          `${version} ${hz} Hz ${moveS} s${noise ? ' noisy' : ''}: worst ${(worst * 1000).toFixed(2)} mm`,
        );
        assert.ok(worst < PINCH_M, `${worst} m`);
      });
  });

/** Open, pinch each finger in 0.4 s, or slowly, and hold it for 0.4 s; judged from the end of the move on. */
function moving(version: 'v1' | 'v2', hz: number, noise: boolean, moveS = 0.4): number {
  let worst = 0;
  for (const [kind, scale] of [
    ['mean', 1],
    ['longThumb', 0.8],
    ['shortFingers', 1.2],
    ['widePalm', 0.9],
  ] as const) {
    const who = body(kind, scale);
    const judge = new Judge(version, true);
    const normal = normals(hz + scale * 100);
    let [frame, from]: [number, Shape] = [0, SHAPES.open];
    for (const finger of [0, 1, 2, 3]) {
      const shape = pinch(who, finger, 0.012 * scale);
      for (const to of [shape, SHAPES.open]) {
        for (let i = 1; i <= Math.round((moveS + 0.4) * hz); i++, frame++) {
          const clean = points(who, between(from, to, minimumJerk(Math.min(1, i / (moveS * hz)))));
          judge.give(noise ? noisy(clean, normal) : clean, frame / hz);
          if (to === shape && i >= moveS * hz) worst = Math.max(worst, judge.pinchError(clean, finger));
        }
        from = to;
      }
    }
  }
  return worst;
}

/** The thumb is near enough for a pinch to begin, and far enough from where a v1 thumb can be. */
const HOOK: Shape = { ...SHAPES.open, mcp: four(0.1), pip: four(1.5), dip: four(0.9), spread: four(0) };

for (const [version, hz] of [
  ['v2', 60],
  ['v2', 72],
  ['v2', 90],
  ['v1', 72],
] as const)
  describe(`an ORCA ${version} at rest`, () => {
    it(`moves no joint by more than 1° per frame under 1 mm of noise at ${hz} Hz`, () => {
      let worst = 0;
      // The smaller the palm, the more its noise turns the fingers.
      const who = body('shortThumb', 0.8);
      const shapes: Shape[] = [
        SHAPES.open,
        SHAPES.flat,
        SHAPES.fist,
        SHAPES.point,
        SHAPES.cup,
        HOOK,
        pinch(who, 0, 0.01),
        pinch(who, 2, 0.01),
      ];
      shapes.forEach((shape, n) => {
        const judge = new Judge(version, true);
        const normal = normals(17 * n + hz);
        const clean = points(who, shape);
        for (let i = 0; i < 6 * hz; i++) {
          const before = judge.q.slice();
          judge.give(noisy(clean, normal), i / hz);
          // The first second: it settles from a first frame that is as noisy as any.
          if (i > hz)
            judge.q.forEach((value, j) => {
              worst = Math.max(worst, Math.abs(value - before[j]!));
            });
        }
      });
      console.log(`${version} ${hz} Hz: worst step at rest ${(worst / DEG).toFixed(2)}°`);
      assert.ok(worst < DEG, `${worst / DEG}°`);
    });
  });

for (const version of ['v2', 'v1'] as const)
  describe(`the delay of a moving ORCA ${version}`, () => {
    for (const [name, to, joints] of [
      ['fist', () => SHAPES.fist, 9],
      ['pinch', (who: Body) => pinch(who, 0, 0.012), 2],
    ] as const)
      for (const hz of [60, 72, 90])
        it(`is at most 15 ms between open and ${name} from 0.5 to 3 Hz, at ${hz} frames per second`, () => {
          const who = body('mean', 1);
          const delays = [0.5, 1, 2, 3].map((rate) => delayMs(version, who, to(who), hz, rate, joints));
          console.log(
            `${version} ${name} ${hz} Hz: delay ${delays.map((ms) => ms.toFixed(1)).join(', ')} ms`,
          );
          for (const ms of delays) assert.ok(ms <= 15, `${ms} ms`);
        });
  });

/** Open ↔ `to` as a sinusoid: the largest shift of a joint against those of an unfiltered solve. */
function delayMs(
  version: 'v1' | 'v2',
  who: Body,
  to: Shape,
  hz: number,
  rateHz: number,
  joints: number,
): number {
  const [filtered, plain] = [new Judge(version, true), new Judge(version, false)];
  const rows: number[][] = [];
  for (let i = 0; i < (4 / rateHz) * hz; i++) {
    const share = 0.5 - 0.5 * Math.cos((2 * Math.PI * rateHz * i) / hz);
    const hand = points(who, between(SHAPES.open, to, 0.8 * share));
    for (const judge of [filtered, plain]) judge.give(hand, i / hz);
    rows.push([...filtered.q, ...plain.q]);
  }
  const settled = rows.slice(rows.length / 4);
  const swings = [...plain.q.keys()].map((joint) => [
    swing(settled, joint, hz, rateHz),
    swing(settled, joint + plain.q.length, hz, rateHz),
  ]);
  const clear = swings.filter(([, plainly]) => plainly!.rad > SWING_RAD);
  assert.ok(clear.length >= joints, `${clear.length} joints swing`);
  return Math.max(...clear.map(([late, plainly]) => turned(late!.phase - plainly!.phase) / rateHz)) * 1000;
}

/** The part of a column that swings at the hand's rate: from end to end, and its phase in radians. */
function swing(rows: readonly (readonly number[])[], column: number, hz: number, rateHz: number) {
  let [cos, sin] = [0, 0];
  rows.forEach((row, i) => {
    cos += row[column]! * Math.cos((2 * Math.PI * rateHz * i) / hz);
    sin += row[column]! * Math.sin((2 * Math.PI * rateHz * i) / hz);
  });
  return { rad: (4 * Math.hypot(cos, sin)) / rows.length, phase: Math.atan2(sin, cos) };
}

/** In turns, −½ … ½. */
const turned = (rad: number): number => Math.atan2(Math.sin(rad), Math.cos(rad)) / (2 * Math.PI);
