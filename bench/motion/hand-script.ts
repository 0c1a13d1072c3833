import type { SimulatedHand } from '../../src/app/simulation.ts';
import { add, norm, type Vec } from './screw-kinematics.ts';

export const HAND_HZ = 72;
const ORIGIN_M: Vec = [0, 1.2, -0.3];

export interface Span {
  fromS: number;
  toS: number;
}

/** Position of a minimum-jerk motion from 0 to 1. */
const ease = (share: number): number => share ** 3 * (10 + share * (6 * share - 15));

/**
 * Writes hand samples. Positions are where the tool should be, relative to where it engaged, in metres along the axes of
 * the robot's base; rotations are rotation vectors about those axes.
 */
export class HandScript {
  readonly samples: SimulatedHand[] = [];
  readonly #scale: number;
  #placeM: number[] = [0, 0, 0];
  #turnRad: number[] = [0, 0, 0];

  constructor(scale: number) {
    this.#scale = scale;
    this.rest(0.5);
  }

  get tS(): number {
    return this.samples.length / HAND_HZ;
  }

  rest(seconds: number): Span {
    return this.path(seconds, () => {});
  }

  /** Moves to a place without overshoot, and waits. */
  moveTo(placeM: Vec, seconds: number, waitS = 0): Span {
    const from = this.#placeM;
    const span = this.path(seconds, (share) => {
      this.#placeM = add(from, add(placeM, from, -1), ease(share));
    });
    return { ...span, toS: this.rest(waitS).toS };
  }

  turnTo(turnRad: Vec, seconds: number, waitS = 0): Span {
    const from = this.#turnRad;
    const span = this.path(seconds, (share) => {
      this.#turnRad = add(from, add(turnRad, from, -1), ease(share));
    });
    return { ...span, toS: this.rest(waitS).toS };
  }

  /** Any motion: `at` is called with shares from above 0 to 1. */
  draw(
    seconds: number,
    at: (share: number, elapsedS: number) => { placeM?: number[]; turnRad?: number[] },
  ): Span {
    return this.path(seconds, (share) => {
      const { placeM, turnRad } = at(share, share * seconds);
      if (placeM !== undefined) this.#placeM = placeM;
      if (turnRad !== undefined) this.#turnRad = turnRad;
    });
  }

  private path(seconds: number, set: (share: number) => void): Span {
    const fromS = this.tS;
    const count = Math.round(seconds * HAND_HZ);
    for (let n = 1; n <= count; n++) {
      set(n / count);
      this.samples.push({
        tS: this.tS,
        positionM: add(ORIGIN_M, toHand(this.#placeM), 1 / this.#scale),
        quatXyzw: quatOf(toHand(this.#turnRad)),
        gripper: 0,
        clutch: true,
        tracking: true,
      });
    }
    return { fromS, toS: this.tS };
  }
}

/** Base: x ahead, y left, z up. Hand: x right, y up, z back. */
const toHand = ([x, y, z]: Vec): number[] => [-y!, z!, -x!];
const fromHand = ([x, y, z]: Vec): number[] => [-z!, -x!, y!];

function quatOf(turnRad: Vec): number[] {
  const angle = norm(turnRad);
  const share = angle > 1e-12 ? Math.sin(angle / 2) / angle : 0.5;
  return [...turnRad.map((value) => value * share), Math.cos(angle / 2)];
}

/** Where the samples ask the tool to be, relative to where it engaged: base axes, metres. */
export function wantedOf(samples: readonly SimulatedHand[], scale: number): (tS: number) => number[] {
  const places = samples.map(({ positionM }) => fromHand(add(positionM, ORIGIN_M, -1)).map((m) => m * scale));
  return (tS) => {
    const at = Math.max(0, Math.min(places.length - 1.000001, tS * HAND_HZ));
    const k = Math.floor(at);
    return add(places[k]!, add(places[k + 1]!, places[k]!, -1), at - k);
  };
}

/** The rotation that the samples ask for, as a quaternion in the base frame. */
export function wantedTurnOf(samples: readonly SimulatedHand[]): (tS: number) => number[] {
  return (tS) => {
    const k = Math.max(0, Math.min(samples.length - 1, Math.floor(tS * HAND_HZ)));
    const [x, y, z, w] = samples[k]!.quatXyzw as [number, number, number, number];
    return [...fromHand([x, y, z]), w];
  };
}

/** Reproducible: a linear congruential generator, and normal deviates from it. */
export function randomsFrom(seed: number): { uniform(): number; normal(): number } {
  let state = seed >>> 0;
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  return { uniform, normal };
}
