import type { Guid, Locator } from './ids.ts';
import type { FragmentMessage } from './message-reader.ts';

/** Largest sample assembled from fragments. */
export const MAX_SAMPLE_BYTES = 64 * 1024;

/** One sample of a topic. */
export interface Sample {
  seq: number;
  /** With its encapsulation. */
  payload: Uint8Array;
  wallNs: number;
  gone: number;
  keyHash: Uint8Array | null;
}

export interface RemoteWriter {
  guid: Guid;
  key: string;
  reliable: boolean;
  locator: Locator;
}

/** A reader's state for one writer. */
export interface WriterProxy extends RemoteWriter {
  /** Next sequence number to deliver; NaN until the first message of a writer whose history is not needed. */
  next: number;
  /** Early samples; null: will never arrive. */
  held: Map<number, Sample | null>;
  /** Since when something is missing; NaN while nothing is. */
  gapNs: number;
  /** Ticks since then. */
  gapTicks: number;
  askedNs: number;
  receivedHeartbeat: boolean;
  heartbeats: number;
  answers: number;
  assembly: Assembly | null;
}

export const newWriterProxy = (remote: RemoteWriter, next: number): WriterProxy => ({
  ...remote,
  next,
  held: new Map(),
  gapNs: Number.NaN,
  gapTicks: 0,
  askedNs: Number.NEGATIVE_INFINITY,
  receivedHeartbeat: false,
  heartbeats: Number.NaN,
  answers: 0,
  assembly: null,
});

/** The newest sample in fragments; older ones are requested again if needed. */
export class Assembly {
  readonly seq: number;
  readonly bytes: Uint8Array;
  readonly #fragmentBytes: number;
  readonly #seen: Uint8Array;
  #missing: number;

  private constructor(message: FragmentMessage) {
    this.seq = message.seq;
    this.bytes = new Uint8Array(message.sampleBytes);
    this.#fragmentBytes = message.fragmentBytes;
    this.#missing = Math.ceil(message.sampleBytes / message.fragmentBytes);
    this.#seen = new Uint8Array(this.#missing);
  }

  static begin(message: FragmentMessage): Assembly | null {
    const { sampleBytes, fragmentBytes } = message;
    if (sampleBytes === 0 || sampleBytes > MAX_SAMPLE_BYTES || fragmentBytes === 0) return null;
    return new Assembly(message);
  }

  get isWhole(): boolean {
    return this.#missing === 0;
  }

  /** False if it belongs to another sample. */
  add({ first, count, fragmentBytes, sampleBytes, payload }: FragmentMessage): boolean {
    if (fragmentBytes !== this.#fragmentBytes || sampleBytes !== this.bytes.length) return false;
    if (first < 1 || count < 1 || first - 1 + count > this.#seen.length) return false;
    const from = (first - 1) * fragmentBytes;
    const length = Math.min(count * fragmentBytes, sampleBytes - from);
    if (payload.length < length) return false;
    this.bytes.set(payload.subarray(0, length), from);
    for (let i = first - 1; i < first - 1 + count; i++) {
      if (this.#seen[i] === 0) this.#missing--;
      this.#seen[i] = 1;
    }
    return true;
  }
}
