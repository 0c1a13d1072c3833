import { type Percentiles, percentiles } from '../core/statistics/percentiles.ts';
import { PULSE_DEVICES, type PulseDevice } from '../messages/pulse-event.ts';

/**
 * One contact from the robot's reading to the pulse that a person felt. `readNs` is on the robot's clock, the rest on the
 * operator's; `offsetNs` (robot − operator) converts between them, NaN while it is unknown.
 */
export interface TouchRecord {
  device: PulseDevice;
  strength: number;
  readNs: number;
  publishedNs: number;
  givenNs: number;
  offsetNs: number;
  uncertaintyNs: number;
}

/** The segments of a pulse's path, in order; they add up to read → given. */
export const TOUCH_SEGMENTS = ['return', 'page'] as const;
export type TouchSegment = (typeof TOUCH_SEGMENTS)[number];

/** In the order of TOUCH_SEGMENTS. */
export function touchSegmentsNs(touch: TouchRecord, out: Float64Array): void {
  out[0] = touch.publishedNs - (touch.readNs - touch.offsetNs);
  out[1] = touch.givenNs - touch.publishedNs;
}

/** One line of a trace file, as specified in `protocol/trace.md`. */
export function touchLine({ device, strength, ...touch }: TouchRecord): string {
  const whole = (ns: number) => (Number.isNaN(ns) ? null : Math.round(ns));
  return JSON.stringify({
    ...{ kind: 'touch', device, strength: Number(strength.toFixed(3)) },
    stamps: {
      'contact.read': whole(touch.readNs),
      'contact.published': whole(touch.publishedNs),
      'pulse.given': whole(touch.givenNs),
    },
    clock_offset_ns: whole(touch.offsetNs),
    clock_uncertainty_ns: whole(touch.uncertaintyNs),
  });
}

/** From a parsed line; null if it is invalid. */
export function touchOf(line: Record<string, unknown>): TouchRecord | null {
  const { device, strength, stamps } = line;
  if (!PULSE_DEVICES.includes(device as PulseDevice) || typeof stamps !== 'object' || stamps === null)
    return null;
  if (typeof strength !== 'number' || !(strength >= 0 && strength <= 1)) return null;
  const named = stamps as Record<string, unknown>;
  const touch = {
    readNs: stampOf(named['contact.read']),
    publishedNs: stampOf(named['contact.published']),
    givenNs: stampOf(named['pulse.given']),
    offsetNs: line['clock_offset_ns'] === null ? Number.NaN : stampOf(line['clock_offset_ns']),
    uncertaintyNs: line['clock_uncertainty_ns'] === null ? Number.NaN : stampOf(line['clock_uncertainty_ns']),
  };
  if (Object.values(touch).includes(null)) return null;
  return { device: device as PulseDevice, strength, ...(touch as Record<keyof typeof touch, number>) };
}

const stampOf = (value: unknown): number | null => (Number.isSafeInteger(value) ? (value as number) : null);

export interface TouchReport {
  pulses: number;
  totalNs: Percentiles | null;
  segmentsNs: Record<TouchSegment, Percentiles | null>;
  clockUncertaintyNs: Percentiles | null;
}

/** The newest pulses are kept. */
const KEPT = 20_000;
const WIDTH = 2 + TOUCH_SEGMENTS.length;

export class TouchReportBuilder {
  readonly #values: number[] = [];
  readonly #scratch = new Float64Array(TOUCH_SEGMENTS.length);
  #pulses = 0;

  add(touch: TouchRecord): void {
    touchSegmentsNs(touch, this.#scratch);
    const at = (this.#pulses++ % KEPT) * WIDTH;
    const total = this.#scratch[0]! + this.#scratch[1]!;
    [total, ...this.#scratch, touch.uncertaintyNs].forEach((ns, i) => {
      this.#values[at + i] = ns;
    });
  }

  /** Null without a pulse. */
  finish(): TouchReport | null {
    if (this.#pulses === 0) return null;
    const rows = Math.min(this.#pulses, KEPT);
    const column = (c: number) =>
      percentiles(Float64Array.from({ length: rows }, (_, i) => this.#values[i * WIDTH + c]!));
    const segments = TOUCH_SEGMENTS.map((name, i) => [name, column(1 + i)]);
    return {
      pulses: this.#pulses,
      totalNs: column(0),
      segmentsNs: Object.fromEntries(segments) as Record<TouchSegment, Percentiles | null>,
      clockUncertaintyNs: column(WIDTH - 1),
    };
  }
}
