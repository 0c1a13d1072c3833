import type { RobotModel } from '../../src/geometry/robot-model.ts';
import type { Palette } from './palette.ts';
import type { Part, Point, Shapes } from './shapes.ts';

/**
 * The shape of each UR link, in the frame that rotates with its joint (before d, a and α). For display only: DH puts upper
 * arm and forearm in one plane, but the real links sit side by side, so the meshes are shifted along the joint axes. Radii
 * are those of a UR3, scaled by reach.
 */
export interface ArmLooks {
  base: Part[];
  links: Part[][];
  scale: number;
}

const UR3_REACH_M = 0.457;

export function urLooks(model: RobotModel, palette: Palette, shapes: Shapes): ArmLooks {
  const dh = model.joints.flatMap((joint) => joint.dh ?? []);
  const a2 = dh[1]?.aM ?? 0;
  const a3 = dh[2]?.aM ?? 0;
  const [d1, d4, d5, d6] = [0, 3, 4, 5].map((i) => dh[i]?.dM ?? 0) as [number, number, number, number];
  const k = (Math.max(0.1, Math.abs(a2) + Math.abs(a3)) / UR3_REACH_M) ** 0.6;
  const elbowZ = 1.08 * d5;
  const upperZ = d4 - d5 + elbowZ;
  const foreZ = upperZ - elbowZ;
  const skin = new Skin(palette, shapes, k);
  const links = [
    skin.shoulder(d1, upperZ),
    skin.arm([0.046, 0.042, 0.034], a2, upperZ, 0.096, 1),
    skin.arm([0.038, 0.033, 0.027], a3, foreZ, 0.082, -1),
    skin.wrist(d4, d4 - foreZ),
    skin.wrist(d5, d5),
    skin.flange(d6),
  ];
  return { base: skin.base(d1), links, scale: k };
}

type Paint = 'shell' | 'tube' | 'collar' | 'cap';

/** Creates the parts for one palette and scale; lengths are those of a UR3. */
class Skin {
  readonly #colours: Palette;
  readonly #shapes: Shapes;
  readonly #k: number;

  constructor(colours: Palette, shapes: Shapes, k: number) {
    this.#colours = colours;
    this.#shapes = shapes;
    this.#k = k;
  }

  base(d1: number): Part[] {
    const k = this.#k;
    return [
      this.#drum('collar', 0.068 * k, 0.012 * k, 'z', [0, 0, 0.006 * k]),
      this.#drum('shell', 0.06 * k, 0.05 * k, 'z', [0, 0, 0.037 * k], 0.012),
      this.#drum('tube', 0.05 * k, d1 * 0.5, 'z', [0, 0, d1 * 0.4]),
    ];
  }

  /** Rotates about the vertical; the second axis points towards −y. */
  shoulder(d1: number, upperZ: number): Part[] {
    const k = this.#k;
    const inner = upperZ - 0.05 * k;
    return [
      this.#drum('collar', 0.0525 * k, 0.01 * k, 'z', [0, 0, d1 - 0.058 * k]),
      this.#drum('shell', 0.05 * k, 0.104 * k, 'z', [0, 0, d1 - 0.001 * k], 0.02),
      this.#drum('shell', 0.046 * k, inner + 0.05 * k, 'y', [0, (0.05 * k - inner) / 2, d1], 0.01),
      this.#drum('cap', 0.041 * k, 0.012 * k, 'y', [0, 0.052 * k, d1], 0.006),
      this.#drum('collar', 0.048 * k, 0.006 * k, 'y', [0, -inner + 0.003 * k, d1]),
    ];
  }

  /** A housing at each end of a tube along x; the caps face `side`. */
  arm(radii: Point, a: number, z: number, lengthM: number, side: 1 | -1): Part[] {
    const k = this.#k;
    const [near, far, tube] = radii.map((radius) => radius * k) as [number, number, number];
    const length = lengthM * k;
    const out = side * (length / 2 + 0.002 * k);
    const sign = Math.sign(a) || 1;
    const [nearEnd, farEnd] = [sign * near * 1.5, a - sign * far * 1.5];
    return [
      this.#drum('shell', near, length, 'z', [0, 0, z], 0.012),
      this.#drum('cap', near * 0.9, 0.012 * k, 'z', [0, 0, z + out], 0.006),
      this.#tube('shell', [near * 0.92, tube], sign * near * 0.3, nearEnd, z),
      this.#tube('tube', [tube, tube], nearEnd, farEnd, z),
      this.#tube('shell', [tube, far * 0.92], farEnd, a - sign * far * 0.3, z),
      this.#drum('shell', far, length * 0.9, 'z', [a, 0, z], 0.012),
      this.#drum('cap', far * 0.9, 0.012 * k, 'z', [a, 0, z + out * 0.9], 0.006),
    ];
  }

  /** Joint axis z up to `d`, free over `run`; the next axis points along y. */
  wrist(d: number, run: number): Part[] {
    const k = this.#k;
    const radius = 0.0325 * k;
    const start = d - run + 0.036 * k;
    const end = d + 0.034 * k;
    return [
      this.#drum('collar', radius * 1.035, 0.006 * k, 'z', [0, 0, start]),
      this.#drum('shell', radius, end - start, 'z', [0, 0, (start + end) / 2], 0.01),
      this.#drum('cap', radius * 0.9, 0.01 * k, 'z', [0, 0, end], 0.005),
      this.#drum('shell', radius, 0.07 * k, 'y', [0, 0, d], 0.01),
    ];
  }

  flange(d6: number): Part[] {
    const k = this.#k;
    const start = 0.036 * k;
    const length = Math.max(0.01 * k, d6 - start - 0.008 * k);
    return [
      this.#drum('shell', 0.0315 * k, length, 'z', [0, 0, start + length / 2], 0.006),
      this.#drum('collar', 0.0305 * k, 0.01 * k, 'z', [0, 0, d6 - 0.005 * k]),
    ];
  }

  #drum(paint: Paint, ...solid: Parameters<Shapes['drum']>): Part {
    return { geometry: this.#shapes.drum(...solid), colour: this.#colours[paint] };
  }

  #tube(paint: Paint, ...solid: Parameters<Shapes['tubeX']>): Part {
    return { geometry: this.#shapes.tubeX(...solid), colour: this.#colours[paint] };
  }
}
