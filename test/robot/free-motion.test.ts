import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random } from '../../src/core/random.ts';
import { createChain, TRANSFORM_SIZE } from '../../src/geometry/chain.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { type Driver, emptyReading, type JointReading } from '../../src/robot/driver.ts';
import type { FreeMotion } from '../../src/robot/touch/free-motion.ts';
import { FreeMotionDriver } from '../../src/robot/touch/free-motion-driver.ts';

const MS = 1e6;
const NOISE_NM = 0.05;

/** An arm with masses, friction and noisy torques, by the potential energy of its links. */
class HeavyArm implements Driver {
  readonly fault = '';
  outsideNm: number[];
  slow = true;
  readonly #model;
  readonly #chain;
  readonly #random = new Random(3, 'heavy');
  readonly #links: { massKg: number; centreM: number[] }[];
  readonly #frames: Float64Array;

  constructor(name: string) {
    this.#model = loadModel(name);
    this.#chain = createChain(this.#model);
    this.#frames = new Float64Array(TRANSFORM_SIZE * (this.#chain.joints + 1));
    this.outsideNm = this.#model.joints.map(() => 0);
    this.#links = this.#model.joints.map((_, i) => ({
      massKg: 2.5 / (1 + i),
      centreM: [0, 1, 2].map(() => 0.1 * (this.#random.uniform() - 0.5)),
    }));
  }

  #energyJ(q: readonly number[]): number {
    this.#chain.frames(q, this.#frames);
    return this.#links.reduce((sum, { massKg, centreM }, i) => {
      const at = (i + 1) * TRANSFORM_SIZE + 8;
      const zM = centreM.reduce((z, m, k) => z + this.#frames[at + k]! * m, this.#frames[at + 3]!);
      return sum + massKg * 9.81 * zM;
    }, 0);
  }

  read(nowNs: number, out: JointReading): 'ok' {
    const s = nowNs / 1e9;
    out.robotNs = nowNs;
    out.externalNm.fill(Number.NaN);
    this.#model.homeRad.forEach((home, i) => {
      const hz = (this.slow ? 0.06 : 1) * (1 + 0.23 * i);
      const w = 2 * Math.PI * hz;
      out.positionsRad[i] = home + 0.35 * Math.sin(w * s + i);
      out.velocitiesRadS[i] = 0.35 * w * Math.cos(w * s + i);
    });
    const q = [...out.positionsRad];
    q.forEach((_, i) => {
      const moved = (by: number) => this.#energyJ(q.map((rad, k) => (k === i ? rad + by : rad)));
      const gravityNm = (moved(1e-5) - moved(-1e-5)) / 2e-5;
      const speed = out.velocitiesRadS[i]!;
      const frictionNm = 0.4 * Math.sign(speed) + 0.8 * speed;
      out.effortsNm[i] = gravityNm + frictionNm + 0.1 + NOISE_NM * this.#random.normal() - this.outsideNm[i]!;
    });
    return 'ok';
  }

  enable = (): 'ok' => 'ok';
  write = (): 'ok' => 'ok';
  stop(): void {}
  dispose(): void {}
}

describe('torque from outside by a free-motion model', () => {
  for (const name of ['piper', 'openarm'])
    it(`${name}: after a minute of slow motion it feels a push, and nothing in free motion`, () => {
      const arm = new HeavyArm(name);
      const model = loadModel(name);
      let learnt: FreeMotion | null = null;
      const onLearnt = (found: FreeMotion) => {
        learnt = found;
      };
      const driver = new FreeMotionDriver(arm, model, { learnt: null, learnS: 60, onLearnt });
      const out = emptyReading(model.joints.length);
      let ms = 0;
      for (; ms < 120_000 && learnt === null; ms += 20) {
        driver.read(ms * MS, out);
        assert.ok(out.externalNm.every(Number.isNaN), 'unknown while it learns');
      }
      assert.ok(ms < 70_000, `learnt after ${ms} ms`);
      const feels = new FreeMotionDriver(arm, model, { learnt, learnS: 0, onLearnt });
      let mistakes = 0;
      for (const end = ms + 20_000; ms < end; ms += 20) {
        feels.read(ms * MS, out);
        if (out.externalNm.some((nm) => nm !== 0)) mistakes++;
      }
      assert.equal(mistakes, 0, 'readings of free motion that felt something, of 1000');
      arm.outsideNm = model.joints.map((_, i) => (i === 1 ? 4 : 0));
      feels.read(ms * MS, out);
      assert.ok(Math.abs(out.externalNm[1]! - 4) < 0.6, `felt ${out.externalNm[1]} of 4 N·m`);
      arm.slow = false;
      feels.read(ms * MS, out);
      assert.ok(out.externalNm.every(Number.isNaN), 'unknown in motion faster than it learnt');
    });
});
