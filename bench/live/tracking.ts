import type { LinkEntry } from '../../src/app/link-worker.ts';
import { createChain } from '../../src/core/chain.ts';
import type { RobotModel } from '../../src/core/robot-model.ts';
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

  /** Straight between samples; null outside of them and across gaps. */
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

/**
 * Listens to an unsealed link: where the operator wanted the flange, and where the robot told its driver to put it.
 * Both roles run on this machine, so their stamps are of one clock.
 */
export class TrackingTap {
  readonly commanded = new Path();
  readonly followed = new Path();
  readonly #model: RobotModel;

  constructor(model: RobotModel) {
    this.#model = model;
  }

  readonly onEntry: (entry: LinkEntry) => void = this.#listener();

  #listener(): (entry: LinkEntry) => void {
    let take: ((entry: LinkEntry) => void) | null = null;
    return (entry) => {
      take ??= this.#reader();
      take(entry);
    };
  }

  #reader(): (entry: LinkEntry) => void {
    const joints = this.#model.joints.length;
    const chain = createChain(this.#model);
    const [command, earlier, state] = [emptyCommand(joints), emptyEarlier(joints), emptyState(joints)];
    const pointM = new Float64Array(3);
    const quatXyzw = new Float64Array(4);
    const flange = (rad: Float64Array) => {
      chain.frame(rad, joints, pointM, quatXyzw);
      return pointM;
    };
    return ({ bytes }) => {
      const type = frameType(bytes, bytes.length);
      if (type === 'command' && decodeCommand(bytes, bytes.length, command, earlier) === null) {
        if (command.engagement > 0) this.commanded.add(command.stateOperatorNs, flange(command.positionsRad));
      } else if (
        type === 'state' &&
        decodeState(bytes, bytes.length, state, { boot: 0, session: 0 }) === null
      ) {
        if (state.state === 'engaged') this.followed.add(state.robotNs, flange(state.targetRad));
      }
    };
  }

  /** Distance from the commanded path, `delayMs(t)` ago, of each state the robot told; NaN where one is missing. */
  errorsMm(delayMs: (robotNs: number) => number): { atNs: number; mm: number }[] {
    const wanted = new Float64Array(3);
    return this.followed.atNs.map((atNs, i) => {
      if (!this.commanded.at(atNs - delayMs(atNs) * 1e6, wanted)) return { atNs, mm: Number.NaN };
      const [x, y, z] = [0, 1, 2].map((k) => this.followed.pointsM[3 * i + k]! - wanted[k]!);
      return { atNs, mm: 1000 * Math.hypot(x!, y!, z!) };
    });
  }
}

/** One-second windows whose 95th percentile lies above `mostMm`, and how many there were. */
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
