import { type Percentiles, percentiles } from '../core/statistics/percentiles.ts';

/**
 * One camera picture from sensor to screen. The first two stamps are on the camera host's clock, the rest on
 * the operator's; `offsetNs` (host − operator) converts between them. NaN if a stage was not reached or is
 * unknown.
 */
export interface VideoRecord {
  camera: string;
  captureNs: number;
  encodedNs: number;
  /** Arrival of its last byte. */
  receivedNs: number;
  decodedNs: number;
  /** Handed to the screen: the browser's presentation time, if available. */
  displayedNs: number;
  offsetNs: number;
  uncertaintyNs: number;
}

/** Stamp names of a `video_frame` line in path order. */
const VIDEO_STAMPS = [
  ['camera.captured', 'captureNs'],
  ['camera.encoded', 'encodedNs'],
  ['video.received', 'receivedNs'],
  ['video.decoded', 'decodedNs'],
  ['video.displayed', 'displayedNs'],
] as const satisfies readonly (readonly [string, keyof VideoRecord])[];

/** The segments of a picture's path, in order; they add up to captured → displayed. */
export const VIDEO_SEGMENTS = ['encode', 'transfer', 'decode', 'display'] as const;
export type VideoSegment = (typeof VIDEO_SEGMENTS)[number];

/**
 * In the order of VIDEO_SEGMENTS. Without an encoded stamp, `transfer` starts at the capture and `encode` is
 * 0.
 */
export function videoSegmentsNs(frame: VideoRecord, out: Float64Array): void {
  const encodedNs = Number.isNaN(frame.encodedNs) ? frame.captureNs : frame.encodedNs;
  out[0] = encodedNs - frame.captureNs;
  out[1] = frame.receivedNs - (encodedNs - frame.offsetNs);
  out[2] = frame.decodedNs - frame.receivedNs;
  out[3] = frame.displayedNs - frame.decodedNs;
}

/** Glass to glass, as far as software can measure; NaN while either end or the offset is unknown. */
export const videoTotalNs = (frame: VideoRecord): number =>
  frame.displayedNs - (frame.captureNs - frame.offsetNs);

/** One line of a trace file, as specified in `protocol/trace.md`. */
export function videoLine(frame: VideoRecord): string {
  const known = VIDEO_STAMPS.filter(([, field]) => !Number.isNaN(frame[field]));
  const stamps = Object.fromEntries(known.map(([name, field]) => [name, Math.round(frame[field])]));
  const whole = (ns: number) => (Number.isNaN(ns) ? null : Math.round(ns));
  const clock = {
    clock_offset_ns: whole(frame.offsetNs),
    clock_uncertainty_ns: whole(frame.uncertaintyNs),
  };
  return JSON.stringify({ kind: 'video_frame', camera: frame.camera, stamps, ...clock });
}

/** From a parsed line; null if it is invalid. */
export function videoOf(line: Record<string, unknown>): VideoRecord | null {
  const { camera, stamps } = line;
  if (typeof camera !== 'string' || typeof stamps !== 'object' || stamps === null) return null;
  const frame = emptyVideoRecord(camera);
  for (const [name, field] of VIDEO_STAMPS)
    if (!take((stamps as Record<string, unknown>)[name], frame, field)) return null;
  const known =
    take(line['clock_offset_ns'], frame, 'offsetNs') &&
    take(line['clock_uncertainty_ns'], frame, 'uncertaintyNs');
  return known ? frame : null;
}

export function emptyVideoRecord(camera: string): VideoRecord {
  const unknown = Number.NaN;
  return {
    camera,
    captureNs: unknown,
    encodedNs: unknown,
    receivedNs: unknown,
    decodedNs: unknown,
    displayedNs: unknown,
    offsetNs: unknown,
    uncertaintyNs: unknown,
  };
}

/** Report of one camera. */
export interface VideoReport {
  camera: string;
  frames: number;
  totalNs: Percentiles | null;
  segmentsNs: Record<VideoSegment, Percentiles | null>;
  /** Uncertainty of the clock offset; null if unknown. */
  clockUncertaintyNs: Percentiles | null;
}

/** Keeps the newest pictures of each camera: an hour at 30 Hz. */
export class VideoReportBuilder {
  readonly #cameras = new Map<string, { frames: number; values: Float64Array }>();
  readonly #scratch = new Float64Array(VIDEO_SEGMENTS.length);

  add(frame: VideoRecord): void {
    let held = this.#cameras.get(frame.camera);
    if (held === undefined) {
      if (this.#cameras.size >= MAX_CAMERAS) return;
      held = { frames: 0, values: new Float64Array(KEPT * WIDTH).fill(Number.NaN) };
      this.#cameras.set(frame.camera, held);
    }
    videoSegmentsNs(frame, this.#scratch);
    const at = (held.frames++ % KEPT) * WIDTH;
    held.values[at] = videoTotalNs(frame);
    held.values.set(this.#scratch, at + 1);
    held.values[at + WIDTH - 1] = frame.uncertaintyNs;
  }

  finish(): VideoReport[] {
    return [...this.#cameras].map(([camera, { frames, values }]) => {
      const column = (c: number) =>
        percentiles(Float64Array.from({ length: Math.min(frames, KEPT) }, (_, i) => values[i * WIDTH + c]!));
      return {
        camera,
        frames,
        totalNs: column(0),
        segmentsNs: Object.fromEntries(VIDEO_SEGMENTS.map((name, i) => [name, column(1 + i)])) as Record<
          VideoSegment,
          Percentiles | null
        >,
        clockUncertaintyNs: column(WIDTH - 1),
      };
    });
  }
}

const MAX_CAMERAS = 16;
const KEPT = 108_000;
/** The total, the segments and the uncertainty. */
const WIDTH = 2 + VIDEO_SEGMENTS.length;

function take(value: unknown, frame: VideoRecord, field: Exclude<keyof VideoRecord, 'camera'>): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value !== 'number' || !(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) return false;
  frame[field] = value;
  return true;
}
