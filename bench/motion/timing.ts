import { Simulation } from '../../src/app/simulation.ts';
import { type Percentiles, percentiles } from '../../src/core/statistics/percentiles.ts';
import { createArmMapper } from '../../src/mapping/arm-mapper.ts';
import { emptyHandSample } from '../../src/messages/hand-sample.ts';
import { surroundingsOf } from '../../src/operator/surroundings.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { HAND_HZ } from './hand-script.ts';
import { MOTIONS, type Motion } from './motions.ts';
import { type Column, placeOf } from './run-rig.ts';

export interface Speed {
  column: string;
  joints: number;
  /** One hand sample through filter and guide; one control cycle of the supervisor. Wall time. */
  mapUs: Percentiles;
  cycleUs: Percentiles;
  /** The same in the quietest tenth of the run: on a shared machine, other load causes the tail. */
  quietMapUs: Percentiles;
  quietCycleUs: Percentiles;
}

const TIMED = ['eights', 'table'];
const WARM_ROUNDS = 3;
const ROUNDS = 6;
const TURNS = 10;

/** Times one mapping and one control cycle on free curves and on a contact. */
export async function timeRig(column: Column): Promise<Speed> {
  const { config } = loadRig(column.rig, column.overrides);
  const model = loadModel(config.model);
  const place = placeOf(config, model)!;
  const motions = TIMED.map((name) => MOTIONS[name]!(place)!);
  const mapUs = motions.flatMap((motion) => timeMapping(column, motion));
  const cycleUs: number[] = [];
  for (const motion of motions) {
    await timeCycles(column, motion);
    cycleUs.push(...(await timeCycles(column, motion)));
  }
  return {
    column: column.name,
    joints: model.joints.length,
    mapUs: percentiles(Float64Array.from(mapUs))!,
    cycleUs: percentiles(Float64Array.from(cycleUs))!,
    quietMapUs: quietest(mapUs),
    quietCycleUs: quietest(cycleUs),
  };
}

function timeMapping({ rig, overrides }: Column, motion: Motion): number[] {
  const { config } = loadRig(rig, [...overrides, ...motion.overrides]);
  const model = loadModel(config.model);
  const mapper = createArmMapper(model, config.operator.mapper, surroundingsOf(model, config.robot));
  const hand = emptyHandSample();
  const out = new Float64Array(model.joints.length);
  const took: number[] = [];
  for (let round = -WARM_ROUNDS; round < ROUNDS; round++) {
    motion.samples.forEach(({ positionM, quatXyzw }, n) => {
      hand.takenNs = (n / HAND_HZ) * 1e9;
      hand.positionM.set(positionM);
      hand.quatXyzw.set(quatXyzw);
      if (n === 0) mapper.engage(hand, model.homeRad);
      const startMs = performance.now();
      mapper.map(hand, out);
      if (round >= 0) took.push((performance.now() - startMs) * 1e3);
    });
  }
  return took;
}

/** In the composition of `farhand simulate`, at the rig's rate. */
async function timeCycles({ rig, overrides }: Column, motion: Motion): Promise<number[]> {
  const { config } = loadRig(rig, [...overrides, ...motion.overrides]);
  const simulation = await Simulation.open(config, loadModel(config.model), () => {});
  const { supervisor } = simulation.pair.robot;
  const tick = supervisor.tick.bind(supervisor);
  const took: number[] = [];
  supervisor.tick = (nowNs: number) => {
    const startMs = performance.now();
    tick(nowNs);
    took.push((performance.now() - startMs) * 1e3);
  };
  for (const sample of motion.samples) simulation.feed(sample);
  simulation.finish(motion.samples.at(-1)!.tS);
  return took;
}

function quietest(took: readonly number[]): Percentiles {
  const length = Math.floor(took.length / TURNS);
  const turns = Array.from({ length: TURNS }, (_, n) =>
    percentiles(Float64Array.from(took.slice(n * length, (n + 1) * length))),
  );
  return turns.reduce((best, turn) => (turn!.p99 < best!.p99 ? turn : best))!;
}
