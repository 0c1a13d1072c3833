import type { Reason } from '../core/counters.ts';
import { endsJpeg, jpegEnd, startsJpeg } from './jpeg-structure.ts';
import { MAX_SECTIONS, MAX_SLICE_BYTES, MAX_SLICE_PAYLOAD, SLICE_HEADER_BYTES } from './slices.ts';

/** Frames that may be open at once; the oldest is dropped. */
const OPEN_FRAMES = 3;
/** An incomplete frame is dropped after this time. */
const GIVE_UP_NS = 100e6;
/** After this long without a complete frame, lower numbers mean that the sender restarted. */
const RESTART_NS = 1e9;
/** The largest step of the frame number that reveals the byte order. */
const MAX_STEP = 64n;

/** One frame being assembled. Its memory is reused. */
class OpenFrame {
  id = 0n;
  firstNs = 0;
  /** Highest section seen; -1: not in use. */
  last = -1;
  delivered = false;
  readonly lengths = new Uint16Array(MAX_SECTIONS);
  readonly bytes = new Uint8Array(MAX_SECTIONS * MAX_SLICE_PAYLOAD);

  begin(id: bigint, nowNs: number): void {
    this.id = id;
    this.firstNs = nowNs;
    this.last = -1;
    this.delivered = false;
    this.lengths.fill(0);
  }

  slice(section: number): Uint8Array {
    const at = section * MAX_SLICE_PAYLOAD;
    return this.bytes.subarray(at, at + this.lengths[section]!);
  }

  /** The picture when its sections are contiguous from SOI in `base` to EOI in the last one seen. */
  whole(base: number): Uint8Array | null {
    if (this.last < base || !endsJpeg(this.slice(this.last)) || !startsJpeg(this.slice(base))) return null;
    let size = 0;
    for (let section = base; section <= this.last; section++) {
      if (this.lengths[section] === 0) return null;
      size += this.lengths[section]!;
    }
    const jpeg = new Uint8Array(size);
    let at = 0;
    for (let section = base; section <= this.last; section++) {
      jpeg.set(this.slice(section), at);
      at += this.lengths[section]!;
    }
    return jpegEnd(jpeg) === 'cut' ? null : jpeg;
  }
}

/**
 * Slices in, pictures out; no socket and no clock. Detects the byte order (the one in which frame numbers are
 * small and increase by one) and the first section (the one that starts with SOI). Loss and reordering drop a
 * frame but never damage one; a frame with a false end is delivered again once the rest has arrived. One
 * sender.
 */
export class SliceAssembler {
  readonly #deliver: (jpeg: Uint8Array, firstNs: number) => void;
  readonly #remark: (reason: Reason) => void;
  readonly #giveUpNs: number;
  #open: OpenFrame[] = [];
  #spare = Array.from({ length: OPEN_FRAMES }, () => new OpenFrame());
  #order: 'little' | 'big' | null = null;
  #base: 0 | 1 = 1;
  #little = 0n;
  #big = 0n;
  #deliveredId = 0n;
  #deliveredNs = Number.NEGATIVE_INFINITY;

  /** `remark` counts dropped frames and false ends; both callbacks run inside `ingest`. */
  constructor(
    deliver: (jpeg: Uint8Array, firstNs: number) => void,
    remark: (reason: Reason) => void,
    giveUpNs = GIVE_UP_NS,
  ) {
    this.#deliver = deliver;
    this.#remark = remark;
    this.#giveUpNs = giveUpNs;
  }

  /** The sender's byte order and first section, once known. */
  get variant(): { order: 'little' | 'big' | null; first: number } {
    return { order: this.#order, first: this.#base };
  }

  /** Null when the slice was accepted. The bytes are valid only during the call. */
  ingest(bytes: Uint8Array, length: number, nowNs: number): Reason | null {
    if (length <= SLICE_HEADER_BYTES) return 'short';
    if (length > MAX_SLICE_BYTES) return 'oversize';
    const id = this.#idOf(bytes);
    if (id === 0n) return 'bad-range';
    if (nowNs - this.#deliveredNs > RESTART_NS && id < this.#deliveredId) this.#restart();
    if (id < this.#deliveredId) return 'too-old';
    this.#giveUpBefore(nowNs - this.#giveUpNs);
    const section = bytes[8]!;
    const frame = this.#frame(id, nowNs);
    if (frame === null) return 'too-old';
    const payload = bytes.subarray(SLICE_HEADER_BYTES, length);
    if (frame.lengths[section] !== 0) return 'duplicate';
    if (section === 0) this.#base = 0;
    frame.bytes.set(payload, section * MAX_SLICE_PAYLOAD);
    frame.lengths[section] = payload.length;
    if (frame.delivered) this.#remark('false-end');
    frame.delivered = false;
    frame.last = Math.max(frame.last, section);
    this.#complete(frame, nowNs);
    return null;
  }

  #complete(frame: OpenFrame, nowNs: number): void {
    const jpeg = frame.whole(this.#base);
    if (jpeg === null) return;
    frame.delivered = true;
    this.#deliveredId = frame.id;
    this.#deliveredNs = nowNs;
    this.#close((other) => other.id < frame.id);
    this.#deliver(jpeg, frame.firstNs);
  }

  /** The frame number in the sender's byte order, which it detects first. */
  #idOf(bytes: Uint8Array): bigint {
    const view = new DataView(bytes.buffer, bytes.byteOffset, 8);
    const [little, big] = [view.getBigUint64(0, true), view.getBigUint64(0, false)];
    const [a, b] = [isStep(little - this.#little), isStep(big - this.#big)];
    const seen = a === b ? (this.#order ?? (little <= big ? 'little' : 'big')) : a ? 'little' : 'big';
    if (this.#order !== null && seen !== this.#order) this.#restart();
    this.#order = seen;
    [this.#little, this.#big] = [little, big];
    return seen === 'little' ? little : big;
  }

  #restart(): void {
    this.#deliveredId = 0n;
    this.#close(() => true);
    this.#base = 1;
  }

  /** The open frame with that number, or a new one; null when it is older than every open frame. */
  #frame(id: bigint, nowNs: number): OpenFrame | null {
    const known = this.#open.find((frame) => frame.id === id);
    if (known !== undefined) return known;
    if (id === this.#deliveredId) return null;
    if (this.#open.length === OPEN_FRAMES) {
      const oldest = this.#open.reduce((a, b) => (a.id < b.id ? a : b));
      if (id < oldest.id) return null;
      this.#close((frame) => frame === oldest);
    }
    const frame = this.#spare.pop()!;
    frame.begin(id, nowNs);
    this.#open.push(frame);
    return frame;
  }

  #giveUpBefore(limitNs: number): void {
    if (this.#open.some((frame) => frame.firstNs < limitNs)) this.#close((frame) => frame.firstNs < limitNs);
  }

  #close(over: (frame: OpenFrame) => boolean): void {
    for (const frame of this.#open.filter(over)) {
      if (!frame.delivered) this.#remark('frame-incomplete');
      this.#spare.push(frame);
    }
    this.#open = this.#open.filter((frame) => !this.#spare.includes(frame));
  }
}

const isStep = (step: bigint): boolean => step >= 1n && step <= MAX_STEP;
