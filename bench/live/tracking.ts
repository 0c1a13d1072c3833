import type { LinkEntry } from '../../src/app/link-worker.ts';
import { Counters } from '../../src/core/counters.ts';
import { createChain } from '../../src/geometry/chain.ts';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import { ArmMotion } from '../../src/robot/supervisor/arm-motion.ts';
import type { SupervisorConfig } from '../../src/robot/supervisor/supervisor-config.ts';
import { decodeCommand, emptyCommand, emptyEarlier } from '../../src/wire/codecs/command.ts';
import { frameType } from '../../src/wire/codecs/frame.ts';
import { decodeState, emptyState } from '../../src/wire/codecs/state.ts';

/** Positions of the flange over time, x, y, z in metres. */
class Path {
  readonly atNs: number[] = [];
  readonly pointsM: number[] = [];

  add(atNs: number, pointM: ArrayLike<number>): void {
    if (this.atNs.length > 0 && atNs <= this.atNs.at(-1)!) return;
    this.atNs.push(atNs);
    this.pointsM.push(pointM[0]!, pointM[1]!, pointM[2]!);
  }

  /** Linear between samples; null outside of them and across gaps. */
  at(ns: number, out: Float64Array): boolean {
    let low = 0;
    let high = this.atNs.length - 1;
    if (high < 1 || ns < this.atNs[0]! || ns > this.atNs[high]!) return false;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.atNs[middle]! <= ns) low = middle;
      else high = middle;
    }
    const gapNs = this.atNs[high]! - this.atNs[low]!;
    if (gapNs > 200e6) return false;
    const part = (ns - this.atNs[low]!) / gapNs;
    for (let i = 0; i < 3; i++)
      out[i] = this.pointsM[3 * low + i]! * (1 - part) + this.pointsM[3 * high + i]! * part;
    return true;
  }
}

interface Commanded {
  sampledOperatorNs: number;
  positionsRad: Float64Array;
}

/**
 * Reads an unencrypted link: the operator's commands, and the flange targets that the robot sent its driver.
 * Both roles run on this machine, so their stamps share one clock.
 */
export class TrackingTap {
  readonly #commanded: Commanded[] = [];
  readonly #followed = new Path();
  readonly #model: RobotModel;
  #take: ((entry: LinkEntry) => void) | null = null;

  constructor(model: RobotModel) {
    this.#model = model;
  }

  readonly onEntry = (entry: LinkEntry): void => {
    this.#take ??= this.#reader();
    this.#take(entry);
  };

  #reader(): (entry: LinkEntry) => void {
    const joints = this.#model.joints.length;
    const flange = flangeOf(this.#model);
    const [command, earlier, state] = [emptyCommand(joints), emptyEarlier(joints), emptyState(joints)];
    return ({ bytes }) => {
      const type = frameType(bytes, bytes.length);
      if (type === 'command' && decodeCommand(bytes, bytes.length, command, earlier) === null) {
        const { sampledOperatorNs, positionsRad } = command;
        const isNewer = sampledOperatorNs > (this.#commanded.at(-1)?.sampledOperatorNs ?? 0);
        if (command.engagement > 0 && isNewer)
          this.#commanded.push({ sampledOperatorNs, positionsRad: positionsRad.slice() });
      } else if (
        type === 'state' &&
        decodeState(bytes, bytes.length, state, { boot: 0, session: 0 }) === null
      ) {
        if (state.state === 'engaged') this.#followed.add(state.robotNs, flange(state.targetRad));
      }
    };
  }

  /**
   * Distance of each reported state from where the same limits would have moved the robot over a link with only the
   * fixed delay; NaN if either is missing.
   */
  errorsMm(
    delayMs: (operatorNs: number) => number,
    config: SupervisorConfig,
  ): { atNs: number; mm: number }[] {
    const steady = steadyPath(this.#model, config, this.#commanded, delayMs);
    const wanted = new Float64Array(3);
    return this.#followed.atNs.map((atNs, i) => {
      if (!steady.at(atNs, wanted)) return { atNs, mm: Number.NaN };
      const [x, y, z] = [0, 1, 2].map((k) => this.#followed.pointsM[3 * i + k]! - wanted[k]!);
      return { atNs, mm: 1000 * Math.hypot(x!, y!, z!) };
    });
  }
}

function flangeOf(model: RobotModel): (rad: Float64Array) => Float64Array {
  const chain = createChain(model);
  const pointM = new Float64Array(3);
  const quatXyzw = new Float64Array(4);
  return (rad) => {
    chain.frame(rad, model.joints.length, pointM, quatXyzw);
    return pointM;
  };
}

const TICK_NS = 1e6;

/** The commands after the supervisor's limits, each applied a fixed delay after its stamp. */
function steadyPath(
  model: RobotModel,
  config: SupervisorConfig,
  commands: readonly Commanded[],
  delayMs: (operatorNs: number) => number,
): Path {
  const path = new Path();
  const flange = flangeOf(model);
  const motion = new ArmMotion(model, config, new Counters());
  let lastNs = Number.NEGATIVE_INFINITY;
  for (const { sampledOperatorNs, positionsRad } of commands) {
    const dueNs = sampledOperatorNs + delayMs(sampledOperatorNs) * 1e6;
    if (dueNs - lastNs > 200e6) {
      motion.restart(positionsRad, dueNs);
      motion.engage(dueNs);
    }
    for (let atNs = lastNs + TICK_NS; atNs < dueNs && dueNs - lastNs <= 200e6; atNs += TICK_NS) {
      motion.step(atNs);
      path.add(atNs, flange(motion.targetRad));
    }
    motion.command(positionsRad, sampledOperatorNs, dueNs);
    path.add(dueNs, flange(motion.targetRad));
    lastNs = dueNs;
  }
  return path;
}

/** One-second windows whose 95th percentile exceeds `mostMm`, and the number of windows. */
export function badTracking(errors: { atNs: number; mm: number }[], fromNs: number, mostMm: number) {
  const windows = new Map<number, number[]>();
  for (const { atNs, mm } of errors) {
    if (atNs < fromNs || Number.isNaN(mm)) continue;
    const window = Math.floor((atNs - fromNs) / 1e9);
    windows.set(window, [...(windows.get(window) ?? []), mm]);
  }
  const p95 = [...windows.values()].map((values) => {
    values.sort((a, b) => a - b);
    return values[Math.floor((values.length - 1) * 0.95)]!;
  });
  return { windows: p95.length, bad: p95.filter((mm) => mm > mostMm).length, worstMm: Math.max(0, ...p95) };
}
