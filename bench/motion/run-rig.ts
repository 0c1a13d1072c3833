import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { type SimulatedCycle, type SimulatedHand, Simulation } from '../../src/app/simulation.ts';
import type { Box, RobotModel } from '../../src/geometry/robot-model.ts';
import { methodsOf } from '../../src/mapping/ik/solver.ts';
import { loadRig, type Rig } from '../../src/rig/rig.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { roomOf } from './clearance.ts';
import { disagreement, type Figures, type Judged, type JudgeSettings, judge } from './judge.ts';
import { leastLagS } from './least-lag.ts';
import { followByMink } from './mink.ts';
import { MOTIONS, type Motion, type Place } from './motions.ts';
import { nearestSlide } from './nearest.ts';
import { picture } from './picture.ts';
import { armOf } from './screw-kinematics.ts';
import { findStart } from './start.ts';

/** One column of the table. */
export interface Column {
  name: string;
  rig: string;
  overrides: string[];
}

export interface RigWork {
  column: Column;
  motions: string[];
  before: string | null;
  mink: boolean;
  /** Compares with the solver that stops at limits. */
  compares: boolean;
  svgDir: string | null;
}

/** Figures by variant and motion. */
export interface RigResult {
  column: Column;
  startM: number[] | null;
  variants: Record<string, Record<string, Figures>>;
  /** Farthest that the program's own account of point and hand is from the evaluator's. */
  disagreementM: number;
}

const LINE_RADIUS_M = 0.1;
/** Contacts that mink is not told of. */
const UNTOLD = new Set(['wall', 'own base', 'own base at 100 %']);

export const GUIDE = 'guide';

export async function runRig({
  column,
  motions,
  before,
  mink,
  compares,
  svgDir,
}: RigWork): Promise<RigResult> {
  const { config } = loadRig(column.rig, column.overrides);
  const model = loadModel(config.model);
  const place = placeOf(config, model);
  const result: RigResult = {
    column,
    startM: place?.start.offsetM ?? null,
    variants: {},
    disagreementM: 0,
  };
  if (place === null) return result;
  const put = (variant: string, motion: string, figures: Figures) => {
    result.variants[variant] ??= {};
    result.variants[variant][motion] = figures;
  };
  const stopping = methodsOf(model)[0]!;
  for (const name of motions) {
    const motion = MOTIONS[name]!(place);
    if (motion === null) continue;
    const settings = settingsOf(column, motion);
    const guided = await simulate(column, motion.overrides, motion.samples);
    const least = name === 'eights' ? leastLagS(place, motion, settings.limits.velocityRadS) : Number.NaN;
    put(GUIDE, name, {
      ...judge(motion, guided, settings),
      ...(Number.isNaN(least) ? {} : { leastLagS: least }),
      ...(name === 'own base' ? nearestSlide(place, motion, settings.limits.velocityRadS) : null),
    });
    result.disagreementM = Math.max(result.disagreementM, disagreement(motion, guided, settings));
    const runs: Record<string, SimulatedCycle[]> = { [GUIDE]: guided };
    if (compares) {
      const more = [...motion.overrides, `operator.mapper.ik=${stopping}`];
      runs[stopping] = await simulate(column, more, motion.samples);
      put(stopping, name, judge(motion, runs[stopping], settings));
    }
    if (before !== null) put('before', name, judge(motion, simulateThere(before, column, motion), settings));
    if (mink && !UNTOLD.has(name)) {
      const followed = followByMink(model, motion, settings, config.robot.controlHz);
      put(
        'mink',
        name,
        judge(motion, followed, { ...settings, room: name === 'table' ? settings.room : null }),
      );
    }
    if (svgDir !== null)
      picture(path.join(svgDir, pictureName(column.name, name)), {
        title: `${column.name}: ${name}`,
        motion,
        settings,
        runs,
      });
  }
  return result;
}

const pictureName = (...parts: string[]): string => `motion-${parts.join(' ').match(/\w+/g)!.join('-')}.svg`;

export const leadOf = (model: RobotModel): number => (model.family === 'ur' ? 3 : model.joints.length);

/** Where the motions of a rig start; null: no place has room for them. */
export function placeOf(config: Rig, model: RobotModel): Place | null {
  const arm = armOf(model);
  const lead = leadOf(model);
  const { mapper } = config.operator;
  if (mapper.rotationOffsetDeg.some((deg) => deg !== 0)) throw new Error('a rotated rig needs another hand');
  const box = [
    model.workspace,
    config.robot.workspace,
    lead === model.joints.length ? mapper.workspace : undefined,
  ];
  const room = roomOf(model, arm, {
    groundZM: config.robot.groundZM,
    stopM: config.robot.stopM,
    workspace: common(box),
  });
  const selfRoom = roomOf(model, arm, { groundZM: null, stopM: config.robot.stopM, workspace: null });
  const reacher = { model, arm, lead, room, selfRoom };
  const scale = mapper.scale * mapper.positionGain;
  const start = findStart(reacher, LINE_RADIUS_M * scale);
  const { groundZM, stopM } = config.robot;
  return start === null ? null : { reacher, start, scale, groundZM, stopM };
}

function common(boxes: readonly (Box | undefined)[]): Box | null {
  const given = boxes.filter((box) => box !== undefined);
  if (given.length === 0) return null;
  const side = (pick: (box: Box) => readonly number[], choose: (...values: number[]) => number) =>
    [0, 1, 2].map((i) => choose(...given.map((box) => pick(box)[i]!))) as [number, number, number];
  return { minM: side(({ minM }) => minM, Math.max), maxM: side(({ maxM }) => maxM, Math.min) };
}

function settingsOf({ rig, overrides }: Column, motion: Motion): JudgeSettings {
  const { config } = loadRig(rig, [...overrides, ...motion.overrides]);
  const model = loadModel(config.model);
  const arm = armOf(model);
  const { robot } = config;
  const share = (pick: (joint: RobotModel['joints'][number]) => number, percent: number) =>
    model.joints.map((joint) => (pick(joint) * percent) / 100);
  return {
    arm,
    lead: leadOf(model),
    homeRad: model.homeRad,
    scale: config.operator.mapper.scale * config.operator.mapper.positionGain,
    limits: {
      velocityRadS: share(({ maxVelocityRadS }) => maxVelocityRadS, robot.speedPercent),
      accelerationRadS2: share(({ maxAccelerationRadS2 }) => maxAccelerationRadS2, robot.accelerationPercent),
      jerkRadS3: share(({ maxJerkRadS3 }) => maxJerkRadS3, robot.jerkPercent),
    },
    room: roomOf(model, arm, { ...robot, workspace: common([model.workspace, robot.workspace]) }),
    groundZM: robot.groundZM,
    stopM: robot.stopM,
  };
}

/** The composition of `farhand simulate`. */
export async function simulate(
  { rig, overrides }: Column,
  more: readonly string[],
  samples: readonly SimulatedHand[],
): Promise<SimulatedCycle[]> {
  const { config } = loadRig(rig, [...overrides, ...more]);
  const cycles: SimulatedCycle[] = [];
  const simulation = await Simulation.open(config, loadModel(config.model), (cycle) => cycles.push(cycle));
  for (const sample of samples) simulation.feed(sample);
  simulation.finish(samples.at(-1)!.tS);
  return cycles;
}

/** `farhand simulate` of another checkout. */
function simulateThere(dir: string, { rig, overrides }: Column, motion: Motion): Judged[] {
  const args = [
    path.join(dir, 'bin', 'farhand'),
    'simulate',
    '--rig',
    rig,
    ...overrides,
    ...motion.overrides,
  ];
  const input = motion.samples.map((sample) => JSON.stringify(sample)).join('\n');
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    input: `${input}\n`,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  });
  if (status !== 0) throw new Error(`simulate of ${dir} failed: ${stderr}`);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Judged);
}
