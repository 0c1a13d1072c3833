import { type Chain, createChain, TRANSFORM_SIZE } from './chain.ts';
import type { RobotModel } from './robot-model.ts';

const GRAVITY = 9.81;

/** A link's mass, and its centre in the frame of the joint that moves it; of the last link, in the flange's. */
export interface LinkMass {
  massKg: number;
  centreM: readonly [number, number, number];
}

/** The torques that hold a serial arm up, its base upright. Hot path: nothing allocates. */
export class GravityLoad {
  readonly #chain: Chain;
  readonly #links: readonly LinkMass[];
  readonly #frames: Float64Array;
  readonly #axes: Float64Array;

  /** One link per joint; further ones have no mass. */
  constructor(model: RobotModel, links: readonly LinkMass[]) {
    this.#chain = createChain(model);
    this.#links = links.slice(0, model.joints.length);
    this.#frames = new Float64Array(TRANSFORM_SIZE * (model.joints.length + 1));
    this.#axes = new Float64Array(6 * model.joints.length);
  }

  into(qRad: ArrayLike<number>, outNm: Float64Array): void {
    this.#chain.framesAndAxes(qRad, this.#frames, this.#axes);
    outNm.fill(0);
    const [f, axes] = [this.#frames, this.#axes];
    for (let link = 0; link < this.#links.length; link++) {
      const { massKg, centreM } = this.#links[link]!;
      const at = (link + 1) * TRANSFORM_SIZE;
      const [cx, cy, cz] = centreM;
      const x = f[at]! * cx + f[at + 1]! * cy + f[at + 2]! * cz + f[at + 3]!;
      const y = f[at + 4]! * cx + f[at + 5]! * cy + f[at + 6]! * cz + f[at + 7]!;
      // How fast the centre rises as a joint turns: z of axis × (centre − joint).
      for (let i = 0; i <= link; i++)
        outNm[i]! +=
          massKg *
          GRAVITY *
          (axes[6 * i]! * (y - axes[6 * i + 4]!) - axes[6 * i + 1]! * (x - axes[6 * i + 3]!));
    }
  }
}
