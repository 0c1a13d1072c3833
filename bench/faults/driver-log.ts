import { readFileSync } from 'node:fs';
import { DRIVER_LOG, type DriverCall } from '../../src/robot/driver-log.ts';
import type { Target } from './limits.ts';

export interface Pose {
  atNs: number;
  jointsRad: Float64Array;
}

/** Targets written to a robot's driver, and its readings. */
export interface DriverLog {
  /** Every target written; the last one is repeated for each cycle without a write. */
  targets: Target[];
  readings: Pose[];
  stopsNs: number[];
}

/** Reads a log of `robot.driverLog`, up to the last complete record. */
export function readDriverLog(file: string, joints: number): DriverLog {
  const bytes = readFileSync(file);
  const record = DRIVER_LOG.create(joints);
  const size = record.packed.byteLength;
  const reader = new LogReader();
  for (let at = 0; at + size <= bytes.length; at += size) {
    record.packed.forEach((_, i) => {
      record.packed[i] = bytes.readDoubleLE(at + 8 * i);
    });
    if (record.call !== null) reader.take(record.call, record.robotNs, record.jointsRad.slice());
  }
  return reader.log;
}

class LogReader {
  readonly log: DriverLog = { targets: [], readings: [], stopsNs: [] };
  /** Nothing was written since the joints were powered. */
  #isNew = true;
  /** The cycle without a write so far; NaN after a write. */
  #emptyCycleNs = Number.NaN;

  take(call: DriverCall, atNs: number, jointsRad: Float64Array): void {
    const { targets, readings, stopsNs } = this.log;
    if (call === 'read') {
      // A cycle without a write keeps the last target.
      const last = targets.at(-1);
      if (!this.#isNew && last !== undefined && this.#emptyCycleNs > last.atNs)
        targets.push({ atNs: this.#emptyCycleNs, jointsRad: last.jointsRad, fromRad: null });
      this.#emptyCycleNs = atNs;
      if (jointsRad.every(Number.isFinite)) readings.push({ atNs, jointsRad });
    } else if (call === 'write') {
      const fromRad = this.#isNew ? (readings.at(-1)?.jointsRad ?? null) : null;
      targets.push({ atNs, jointsRad, fromRad });
      this.#isNew = false;
      this.#emptyCycleNs = Number.NaN;
    } else {
      this.#isNew = true;
      if (call === 'stop') stopsNs.push(atNs);
    }
  }
}

/** Slower than this counts as rest: encoder steps, not motion. */
const REST_RAD_S = 0.005;
const OVER_NS = 20e6;

/** When the joints last moved within [fromNs, toNs], else `fromNs`. May be 20 ms late: speeds are means over 20 ms. */
export function lastMotionNs(poses: readonly Pose[], fromNs: number, toNs: number): number {
  let lastNs = fromNs;
  let before = 0;
  for (let i = 1; i < poses.length; i++) {
    const { atNs, jointsRad } = poses[i]!;
    while (poses[before + 1]!.atNs <= atNs - OVER_NS) before++;
    const from = poses[before]!;
    if (atNs <= fromNs || atNs > toNs || atNs === from.atNs) continue;
    const s = (atNs - from.atNs) / 1e9;
    if (jointsRad.some((rad, j) => Math.abs(rad - from.jointsRad[j]!) > REST_RAD_S * s)) lastNs = atNs;
  }
  return lastNs;
}
