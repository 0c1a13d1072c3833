import { number, oneOf, perJoint, struct } from '../../core/memory/struct-layout.ts';
import { LIMITED_BY, SUPERVISOR_STATES } from '../../messages/robot-state.ts';

/** One control cycle of the robot. The names and their order are those of the flight files. */
export const FLIGHT = struct({
  robotNs: number,
  state: oneOf(SUPERVISOR_STATES, null),
  limitedBy: oneOf(LIMITED_BY, null),
  epoch: number,
  engagement: number,
  seq: number,
  commandNs: number,
  /** When the newest command was accepted; the trace has when the driver wrote it. */
  acceptedNs: number,
  readingNs: number,
  clearanceM: number,
  gripper: number,
  goalRad: perJoint,
  targetRad: perJoint,
  targetRadS: perJoint,
  measuredRad: perJoint,
  measuredRadS: perJoint,
});

/** One control cycle; null where a number was not finite. */
export type FlightRecord = Record<string, number | string | null | (number | null)[]>;

const FREE = 0;
const RECORDING = 1;
const FROZEN = 2;
const SLABS = 4;
const HEADER = 4;
const [ACTIVE, JOINTS, CAPACITY, SKIPPED] = [0, 1, 2, 3] as const;

/**
 * The last control cycles, in shared memory. The control thread writes into one of four slabs. A freeze hands
 * that slab to the reader and continues in the next, without copying or waiting.
 */
export class FlightRecorder {
  readonly buffer: SharedArrayBuffer;
  readonly #header: Int32Array;
  readonly #data: Float64Array;
  readonly #size: number;
  readonly #capacity: number;

  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer;
    this.#header = new Int32Array(buffer, 0, HEADER + 2 * SLABS);
    this.#data = new Float64Array(buffer, HEADER_BYTES);
    this.#size = FLIGHT.size(this.#header[JOINTS]!);
    this.#capacity = this.#header[CAPACITY]!;
  }

  static create(joints: number, cycles: number): FlightRecorder {
    const capacity = Math.max(1, Math.ceil(cycles));
    const numbers = SLABS * capacity * FLIGHT.size(joints);
    const buffer = new SharedArrayBuffer(HEADER_BYTES + numbers * 8);
    const header = new Int32Array(buffer, 0, HEADER);
    header[JOINTS] = joints;
    header[CAPACITY] = capacity;
    const recorder = new FlightRecorder(buffer);
    recorder.#header[stateAt(0)] = RECORDING;
    return recorder;
  }

  /** Freezes skipped because the reader still held the next slab. */
  get skipped(): number {
    return Atomics.load(this.#header, SKIPPED);
  }

  /** Cycles that one slab holds. */
  get capacity(): number {
    return this.#capacity;
  }

  get active(): number {
    return Atomics.load(this.#header, ACTIVE);
  }

  /** Hot path. Copies the record. */
  write(record: Float64Array): void {
    const slab = this.#header[ACTIVE]!;
    const written = this.#header[writtenAt(slab)]!;
    this.#data.set(record, (slab * this.#capacity + (written % this.#capacity)) * this.#size);
    Atomics.store(this.#header, writtenAt(slab), (written + 1) & 0x3fffffff);
  }

  /**
   * Hot path. Returns the slab with the last cycles, for `read` and `release`; −1 if the reader is behind.
   */
  freeze(): number {
    const slab = this.#header[ACTIVE]!;
    const next = (slab + 1) % SLABS;
    if (Atomics.load(this.#header, stateAt(next)) !== FREE) {
      Atomics.add(this.#header, SKIPPED, 1);
      return -1;
    }
    Atomics.store(this.#header, writtenAt(next), 0);
    Atomics.store(this.#header, stateAt(next), RECORDING);
    Atomics.store(this.#header, stateAt(slab), FROZEN);
    Atomics.store(this.#header, ACTIVE, next);
    return slab;
  }

  /** Records of a slab, oldest first. While the slab is being written, the oldest may be torn. */
  read(slab: number): FlightRecord[] {
    const written = Atomics.load(this.#header, writtenAt(slab));
    const count = Math.min(written, this.#capacity);
    const joints = this.#header[JOINTS]!;
    return Array.from({ length: count }, (_, i) => {
      const at = slab * this.#capacity + ((written - count + i) % this.#capacity);
      return readable(this.#data.slice(at * this.#size, (at + 1) * this.#size), joints);
    });
  }

  /** The reader is done with a frozen slab. */
  release(slab: number): void {
    Atomics.compareExchange(this.#header, stateAt(slab), FROZEN, FREE);
  }
}

function readable(packed: Float64Array, joints: number): FlightRecord {
  const entries = Object.entries(FLIGHT.plain(FLIGHT.create(joints, packed)));
  return Object.fromEntries(
    entries.map(([name, value]) => {
      if (typeof value === 'number') return [name, finite(value)];
      return [name, value instanceof Float64Array ? Array.from(value, finite) : value];
    }),
  );
}

const stateAt = (slab: number): number => HEADER + 2 * slab;
const writtenAt = (slab: number): number => HEADER + 2 * slab + 1;
const HEADER_BYTES = 64;
const finite = (value: number): number | null =>
  Number.isFinite(value) ? Math.round(value * 1e6) / 1e6 : null;
