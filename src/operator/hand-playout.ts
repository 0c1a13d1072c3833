import type { Reason } from '../core/counters.ts';
import type { InputDevice, InputQuality } from '../input/device.ts';
import { emptyHandSample, type HandSample, type SampleStatus } from '../messages/hand-sample.ts';

/** When a sample taken at `takenNs` that arrived at `receivedNs` is due; a playout policy of the robot. */
export interface HandSchedule {
  schedule(takenNs: number, receivedNs: number): number;
  restart?(): void;
}

interface Entry {
  dueNs: number;
  arrivedNs: number;
  sample: HandSample;
}

const CAPACITY = 128;
/** Samples further apart than this are not joined by a straight line. */
const MAX_GAP_NS = 100e6;

/**
 * Absorbs the jitter between a device and the operator: poses take effect a steady delay after the device took them, by
 * its own clock, and between two of them on a straight line. A released clutch, a lost hand and an e-stop do not wait.
 * Nothing is allocated after construction.
 */
export class HandPlayout implements InputDevice {
  readonly #inner: InputDevice;
  readonly #schedule: HandSchedule;
  readonly #slots: readonly Entry[];
  readonly #scratch = emptyHandSample();
  #head = 0;
  #count = 0;
  #stream = 0;
  /** Was open since the last sample: a release undone before the next tick still counts. */
  #opened = false;
  /** Arrival of the newest message that the last sample is made of; NaN before the first. */
  usedArrivalNs = Number.NaN;

  constructor(inner: InputDevice, schedule: HandSchedule) {
    this.#inner = inner;
    this.#schedule = schedule;
    this.#slots = Array.from({ length: CAPACITY }, () => ({
      dueNs: 0,
      arrivedNs: 0,
      sample: emptyHandSample(),
    }));
  }

  get estop(): boolean {
    return this.#inner.estop ?? false;
  }

  get stream(): number {
    return this.#inner.stream ?? 0;
  }

  get handBackPresses(): number {
    return this.#inner.handBackPresses ?? 0;
  }

  get recordPresses(): number {
    return this.#inner.recordPresses ?? 0;
  }

  get armPresses(): number {
    return this.#inner.armPresses ?? 0;
  }

  get resetPresses(): number {
    return this.#inner.resetPresses ?? 0;
  }

  sender(nowNs: number): number {
    return this.#inner.sender?.(nowNs) ?? 0;
  }

  quality(nowNs: number, out: InputQuality): void {
    if (this.#inner.quality !== undefined) this.#inner.quality(nowNs, out);
    else out.rateHz = Number.NaN;
  }

  restart(nowNs: number): void {
    this.#inner.restart?.(nowNs);
    this.#clear();
  }

  ingest(bytes: Uint8Array, length: number, receivedNs: number, from: number, socket: number): Reason | null {
    const reason = this.#inner.ingest(bytes, length, receivedNs, from, socket);
    const status = this.#pull(receivedNs, this.#scratch);
    if (this.stream !== this.#stream) {
      this.#stream = this.stream;
      this.#clear();
      this.#schedule.restart?.();
    }
    if (reason === null && status === 'ok') this.#queue(receivedNs);
    return reason;
  }

  /** Not every input fills these fields. */
  #pull(nowNs: number, out: HandSample): SampleStatus {
    out.points = 0;
    out.joints = 0;
    out.sentNs = Number.NaN;
    const status = this.#inner.sample(nowNs, out);
    if (!out.clutch) this.#opened = true;
    return status;
  }

  #queue(receivedNs: number): void {
    const newest = this.#count === 0 ? null : this.#at(this.#count - 1);
    if (newest !== null && this.#scratch.takenNs <= newest.sample.takenNs) return;
    if (this.#count === CAPACITY) this.#shift();
    const entry = this.#slots[(this.#head + this.#count) % CAPACITY]!;
    const dueNs = this.#schedule.schedule(this.#scratch.takenNs, receivedNs);
    entry.dueNs = newest === null ? dueNs : Math.max(dueNs, newest.dueNs);
    entry.arrivedNs = receivedNs;
    copySample(this.#scratch, entry.sample);
    this.#count++;
  }

  sample(nowNs: number, out: HandSample): SampleStatus {
    const status = this.#pull(nowNs, out);
    const isOpen = this.#opened;
    this.#opened = false;
    if (status !== 'ok' || out.joints > 0) this.#clear();
    if (this.#count === 0) return status;
    while (this.#count > 1 && this.#at(1).dueNs <= nowNs) this.#shift();
    const due = this.#at(0);
    const next = this.#count > 1 && nowNs > due.dueNs ? this.#at(1) : null;
    const isClosed = out.clutch && !isOpen && due.sample.clutch;
    const { tracking, estop } = out;
    copySample(due.sample, out);
    if (next !== null && next.dueNs - due.dueNs < MAX_GAP_NS)
      blend(out, next.sample, (nowNs - due.dueNs) / (next.dueNs - due.dueNs));
    out.clutch = isClosed;
    out.tracking = tracking && due.sample.tracking;
    out.estop = estop;
    this.usedArrivalNs = (next ?? due).arrivedNs;
    return status;
  }

  #at(index: number): Entry {
    return this.#slots[(this.#head + index) % CAPACITY]!;
  }

  #shift(): void {
    this.#head = (this.#head + 1) % CAPACITY;
    this.#count--;
  }

  #clear(): void {
    this.#count = 0;
    this.usedArrivalNs = Number.NaN;
  }
}

function copySample(from: HandSample, to: HandSample): void {
  to.takenNs = from.takenNs;
  to.sentNs = from.sentNs;
  to.positionM.set(from.positionM);
  to.quatXyzw.set(from.quatXyzw);
  to.gripper = from.gripper;
  to.clutch = from.clutch;
  to.tracking = from.tracking;
  to.estop = from.estop;
  to.points = from.points;
  if (from.points > 0) to.pointsM.set(from.pointsM);
  to.isLeft = from.isLeft;
  to.joints = from.joints;
  if (from.joints > 0) to.jointsRad.set(from.jointsRad);
}

/** Moves `out` towards `next`: 0 stays, 1 arrives. */
function blend(out: HandSample, next: HandSample, share: number): void {
  out.takenNs += share * (next.takenNs - out.takenNs);
  out.sentNs += share * (next.sentNs - out.sentNs);
  out.gripper += share * (next.gripper - out.gripper);
  blendInto(out.positionM, next.positionM, share, 1);
  let dot = 0;
  for (let i = 0; i < 4; i++) dot += out.quatXyzw[i]! * next.quatXyzw[i]!;
  blendInto(out.quatXyzw, next.quatXyzw, share, dot < 0 ? -1 : 1);
  const norm = Math.hypot(out.quatXyzw[0]!, out.quatXyzw[1]!, out.quatXyzw[2]!, out.quatXyzw[3]!);
  for (let i = 0; i < 4; i++) out.quatXyzw[i]! /= norm;
  if (out.points > 0 && next.points === out.points && next.isLeft === out.isLeft)
    blendInto(out.pointsM, next.pointsM, share, 1);
}

function blendInto(out: Float64Array, next: Float64Array, share: number, sign: number): void {
  for (let i = 0; i < out.length; i++) out[i] = out[i]! + share * (sign * next[i]! - out[i]!);
}
