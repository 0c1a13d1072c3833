import { createChain } from '../../src/geometry/chain.ts';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import { loadModel } from '../../src/rig/robot-models.ts';

/** Poses an arm can reach, each with a nearby seed; the same in every run. */
export interface Targets {
  model: RobotModel;
  count: number;
  qRad: Float64Array[];
  positionM: Float64Array[];
  /** Position of link 3, which `decoupled` controls. */
  elbowM: Float64Array[];
  quatXyzw: Float64Array[];
  seedRad: Float64Array[];
}

const SEED_OFF_RAD = 0.3;

export function createTargets(name: string, count: number): Targets {
  const model = loadModel(name);
  const chain = createChain(model);
  const random = randoms(1);
  const within = (i: number, angle: number) =>
    Math.min(Math.max(angle, model.joints[i]!.minRad), model.joints[i]!.maxRad);
  const targets: Targets = {
    model,
    count,
    qRad: [],
    positionM: [],
    elbowM: [],
    quatXyzw: [],
    seedRad: [],
  };
  for (let n = 0; n < count; n++) {
    const qRad = Float64Array.from(
      model.joints,
      ({ minRad, maxRad }) => minRad + random() * (maxRad - minRad),
    );
    const [positionM, elbowM, quatXyzw] = [new Float64Array(3), new Float64Array(3), new Float64Array(4)];
    chain.frame(qRad, 3, elbowM, quatXyzw);
    chain.frame(qRad, chain.joints, positionM, quatXyzw);
    targets.qRad.push(qRad);
    targets.positionM.push(positionM);
    targets.elbowM.push(elbowM);
    targets.quatXyzw.push(quatXyzw);
    targets.seedRad.push(qRad.map((angle, i) => within(i, angle + SEED_OFF_RAD * (2 * random() - 1))));
  }
  return targets;
}

/** A linear congruential generator: the same numbers for the peer and for every run. */
function randoms(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
