import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { createChain } from '../../geometry/chain.ts';
import { quatAngleRad, quatMultiply, quatNormalise } from '../../geometry/frames.ts';
import { type Box, type RobotModel, robotModelSchema } from '../../geometry/robot-model.ts';
import { Guide, type GuideOptions } from './guide.ts';

const load = (name: string): RobotModel =>
  robotModelSchema.parse(parse(readFileSync(`robots/${name}.yaml`, 'utf8')));
const DT_S = 1 / 72;
const NOTHING = {
  groundZM: null,
  obstacles: [],
  neighbour: null,
  stopM: 0.01,
  workspace: null,
  guidedBox: null,
};
/** Past the base's axis at the height of the shoulder, and across. */
const BEHIND_THE_BASE = [
  [-0.054, -0.013, 0.235],
  [-0.089, 0.119, 0.282],
  [-0.029, -0.109, 0.2],
];
const ARMS = { ur3: 6, piper: 6, openarm: 7, xarm6: 6 } as const;

class Arm {
  readonly guide: Guide;
  readonly model: RobotModel;
  readonly placeM = new Float64Array(3);
  readonly quatXyzw = new Float64Array(4);
  readonly #chain;

  readonly #lead: number;

  constructor(name: string, around: Partial<GuideOptions['around']> = {}, lead?: number) {
    this.model = load(name);
    this.#lead = lead ?? this.model.joints.length;
    const { joints } = this.model;
    this.#chain = createChain(this.model);
    this.guide = new Guide(this.model, {
      lead: this.#lead,
      around: { ...NOTHING, ...around },
      minRad: joints.map(({ minRad }) => minRad),
      maxRad: joints.map(({ maxRad }) => maxRad),
      velocityRadS: joints.map(({ maxVelocityRadS }) => maxVelocityRadS),
      accelerationRadS2: joints.map(({ maxAccelerationRadS2 }) => maxAccelerationRadS2),
    });
    this.engage(this.model.homeRad);
  }

  engage(qRad: ArrayLike<number>): void {
    this.guide.engage(qRad);
    this.look();
  }

  look(qRad: ArrayLike<number> = this.guide.qRad): void {
    const q = Float64Array.from(qRad);
    this.#chain.frame(q, this.#lead, this.placeM, this.quatXyzw);
    this.#chain.frame(q, this.model.joints.length, new Float64Array(3), this.quatXyzw);
  }

  /** The wrist may be behind; wait for it. */
  rest(atM: readonly number[], turn: Float64Array): void {
    for (let n = 0; n < 150; n++) this.guide.follow(Float64Array.from(atM), turn, DT_S);
    this.look();
  }

  /** Moves the wanted point in a straight line at 0.2 m/s from where it was wanted last; returns where it is. */
  drag(fromM: readonly number[], byM: readonly number[], turn: Float64Array, each = () => {}): number[] {
    const steps = Math.max(1, Math.ceil(Math.hypot(...byM) / (0.2 * DT_S)));
    for (let n = 1; n <= steps; n++) {
      const wanted = Float64Array.from(fromM, (m, i) => m + (n / steps) * byM[i]!);
      this.guide.follow(wanted, turn, DT_S);
      this.look();
      each();
    }
    return fromM.map((m, i) => m + byM[i]!);
  }
}

const farthest = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Math.max(...Array.from(a, (value, i) => Math.abs(value - b[i]!)));

describe('a guided motion', () => {
  for (const name of Object.keys(ARMS))
    it(`of ${name}: the pose it begins in moves nothing, wherever that is`, () => {
      const arm = new Arm(name, { groundZM: 0 });
      const { joints } = arm.model;
      const poses = fc.tuple(...joints.map(() => fc.integer({ min: 0, max: 100 })));
      fc.assert(
        fc.property(poses, (shares) => {
          const q = joints.map(({ minRad, maxRad }, i) => minRad + (shares[i]! / 100) * (maxRad - minRad));
          arm.engage(q);
          const [at, turn] = [arm.placeM.slice(), arm.quatXyzw.slice()];
          for (let n = 0; n < 5; n++) arm.guide.follow(at, turn, DT_S);
          arm.look();
          assert.ok(farthest(arm.placeM, at) < 1e-4, `moved by ${farthest(arm.placeM, at)} m`);
        }),
        { numRuns: 200 },
      );
    });

  for (const name of Object.keys(ARMS))
    it(`of ${name}: stays inside the joint ranges for any hands, and stays finite`, () => {
      const arm = new Arm(name, { groundZM: 0 });
      const { joints } = arm.model;
      const component = fc.integer({ min: -1000, max: 1000 }).map((n) => n / 1000);
      const hand = fc.tuple(component, component, component, component, component, component, component);
      fc.assert(
        fc.property(fc.array(hand, { maxLength: 40 }), (hands) => {
          arm.engage(arm.model.homeRad);
          for (const [x, y, z, ...q] of hands) {
            const quat = Float64Array.from(q);
            if (!quatNormalise(quat, quat)) continue;
            arm.guide.follow(Float64Array.of(1.5 * x, 1.5 * y, 1.5 * z), quat, DT_S);
            arm.guide.qRad.forEach((rad, i) => {
              const { minRad, maxRad } = joints[i]!;
              assert.ok(rad >= minRad && rad <= maxRad, `joint ${i}: ${rad} rad`);
            });
            assert.ok(farthest(arm.guide.towards, [0, 0, 0]) <= 1 + 1e-9);
          }
        }),
        { numRuns: 60 },
      );
    });

  it('reaches every wanted pose that is free', () => {
    for (const name of Object.keys(ARMS)) {
      const arm = new Arm(name);
      const turn = arm.quatXyzw.slice();
      const from = [...arm.placeM];
      for (const byM of [
        [0.03, 0.02, -0.03],
        [-0.03, -0.04, 0.02],
        [0, 0.05, 0],
      ]) {
        const there = arm.drag(from, byM, turn);
        arm.rest(there, turn);
        assert.ok(farthest(arm.placeM, there) < 2e-4, `${name}: ${farthest(arm.placeM, there)} m off`);
        assert.ok(quatAngleRad(arm.quatXyzw, turn) < 0.01, name);
        assert.equal(arm.guide.limitedBy, '', name);
        arm.drag(
          there,
          byM.map((m) => -m),
          turn,
        );
        arm.rest(from, turn);
        assert.ok(farthest(arm.placeM, from) < 2e-4, name);
      }
    }
  });

  it('slides along a wall of the workspace: what presses stops, the rest goes on', () => {
    for (const name of ['ur3', 'piper', 'xarm6']) {
      const probe = new Arm(name);
      const wallM = probe.placeM[0]! + 0.02;
      const workspace = { minM: [-2, -2, -2], maxM: [wallM, 2, 2] } as Box;
      const arm = new Arm(name, { workspace });
      const turn = arm.quatXyzw.slice();
      const start = [...arm.placeM];
      const inWall = () => assert.ok(arm.placeM[0]! <= wallM + 1e-6, `${arm.placeM[0]! - wallM} m past it`);
      const pressed = arm.drag(start, [0.07, 0, 0], turn, inWall);
      assert.equal(arm.guide.limitedBy, 'workspace', name);
      assert.ok(arm.guide.towards[0]! > 0.9, `${name}: points into the wall`);
      const before = arm.placeM[1]!;
      const slid = arm.drag(pressed, [0, -0.1, 0], turn, inWall);
      assert.ok(before - arm.placeM[1]! > 0.095, `${name}: ${before - arm.placeM[1]!} m sideways`);
      arm.drag(slid, [-0.07, 0.1, 0], turn, inWall);
      assert.ok(farthest(arm.placeM, start) < 1e-3, `${name}: back where it began`);
    }
  });

  it('slides along the table', () => {
    for (const name of ['ur3', 'piper']) {
      const probe = new Arm(name);
      const groundZM = probe.placeM[2]! - 0.2;
      const arm = new Arm(name, { groundZM });
      const turn = arm.quatXyzw.slice();
      const start = [...arm.placeM];
      const pressed = arm.drag(start, [0, 0, -0.25], turn);
      assert.equal(arm.guide.limitedBy, 'collision', name);
      const [sideways, height] = [arm.placeM[1]!, arm.placeM[2]!];
      arm.drag(pressed, [0, -0.1, 0], turn, () =>
        assert.ok(Math.abs(arm.placeM[2]! - height) < 0.01, `${name}: ${arm.placeM[2]! - height} m`),
      );
      assert.ok(sideways - arm.placeM[1]! > 0.09, `${name}: ${sideways - arm.placeM[1]!} m sideways`);
    }
  });

  it('slides along the edge of its reach, and comes back the way it went', () => {
    for (const name of ['ur3', 'piper', 'xarm6']) {
      const arm = new Arm(name);
      const turn = arm.quatXyzw.slice();
      const start = [...arm.placeM];
      const out = Math.sign(start[0]!) * 0.6;
      const far = arm.drag(start, [out, 0, 0], turn);
      assert.notEqual(arm.guide.limitedBy, '', name);
      const before = arm.placeM[1]!;
      const slid = arm.drag(far, [0, 0.15, 0], turn);
      assert.ok(arm.placeM[1]! - before > 0.03, `${name}: ${arm.placeM[1]! - before} m sideways`);
      arm.drag(slid, [-out, -0.15, 0], turn);
      arm.rest(start, turn);
      assert.ok(farthest(arm.guide.qRad, arm.model.homeRad) < 0.05, `${name}: ${arm.guide.qRad}`);
    }
  });

  it('goes round its own shoulder', () => {
    const arm = new Arm('ur3', {}, 3);
    const [turn, start] = [arm.quatXyzw.slice(), [...arm.placeM]];
    const pressed = arm.drag(start, [-0.21, 0, 0], turn);
    const slid = arm.drag(pressed, [0, -0.15, 0], turn);
    arm.rest(slid, turn);
    assert.ok(farthest(arm.placeM, slid) < 1e-3, `${farthest(arm.placeM, slid)} m from the hand`);
    assert.ok(quatAngleRad(arm.quatXyzw, turn) < 0.01);
    arm.drag(slid, [0.21, 0.15, 0], turn);
    arm.rest(start, turn);
    assert.ok(farthest(arm.guide.qRad, arm.model.homeRad) < 0.05, `${arm.guide.qRad}`);
  });

  it('comes back to the pose it began in after a hand that went behind its base', () => {
    const arm = new Arm('piper', { groundZM: 0 });
    const begunRad = [...arm.guide.qRad];
    const [home, turn] = [[...arm.placeM], arm.quatXyzw.slice()];
    let at = home;
    for (const to of BEHIND_THE_BASE)
      at = arm.drag(
        at,
        to.map((m, i) => m - at[i]!),
        turn,
      );
    at = arm.drag(
      at,
      home.map((m, i) => m - at[i]!),
      turn,
    );
    arm.rest(home, turn);
    assert.ok(farthest(arm.guide.qRad, begunRad) < 0.01, `${[...arm.guide.qRad]}, not ${begunRad}`);
  });

  it('turns the tool on its own base, within bounds, to stay with the hand, and back', () => {
    const arm = new Arm('openarm');
    const [turn, start] = [arm.quatXyzw.slice(), [...arm.placeM]];
    const asked = [0.147 - start[0]!, -0.005 - start[1]!, 0.484 - start[2]!];
    let turnedRad = 0;
    const note = () => {
      turnedRad = Math.max(turnedRad, quatAngleRad(arm.quatXyzw, turn));
    };
    const pressed = arm.drag(start, asked, turn, note);
    const from = [...arm.placeM];
    const slid = arm.drag(pressed, [-0.082, -0.126, 0], turn, note);
    const sideways = (0.082 * (from[0]! - arm.placeM[0]!) + 0.126 * (from[1]! - arm.placeM[1]!)) / 0.15 ** 2;
    assert.ok(sideways > 0.8, `${sideways} of the hand's motion`);
    assert.ok(turnedRad > 0.1 && turnedRad < 0.65, `${turnedRad} rad`);
    arm.drag(slid, [0.082 - asked[0]!, 0.126 - asked[1]!, -asked[2]!], turn);
    arm.rest(start, turn);
    assert.ok(quatAngleRad(arm.quatXyzw, turn) < 0.01, `${quatAngleRad(arm.quatXyzw, turn)} rad`);
  });

  it('returns to its branch after turning through the wrist’s singularity', () => {
    for (const name of ['piper', 'ur3', 'xarm6', 'dk1']) {
      const arm = new Arm(name);
      const [turn, start] = [arm.quatXyzw.slice(), arm.placeM.slice()];
      const wanted = new Float64Array(4);
      // A cone of 40° in four seconds.
      for (let n = 0; n <= 288 + 144; n++) {
        const phase = (2 * Math.PI * Math.min(n, 288)) / 288;
        const tilt = 0.35 * (1 - Math.cos(phase));
        wanted.set([
          Math.sin(phase) * Math.sin(tilt / 2),
          Math.cos(phase) * Math.sin(tilt / 2),
          0,
          Math.cos(tilt / 2),
        ]);
        quatMultiply(wanted, turn, wanted);
        arm.guide.follow(start, wanted, DT_S);
        arm.look();
        assert.ok(farthest(arm.placeM, start) < 5e-3, `${name}: ${farthest(arm.placeM, start)} m off`);
      }
      assert.ok(quatAngleRad(arm.quatXyzw, turn) < 0.01, name);
      assert.ok(farthest(arm.guide.qRad, arm.model.homeRad) < 0.5, `${name}: ${arm.guide.qRad}`);
    }
  });
});
