/** A change of the torque from outside below this is not felt. */
const FELT_NM = 0.12;
/** This change is felt with full strength. */
const FULL_NM = 3;
const WEAKEST = 0.2;
/** A new pulse replaces the last one after this long at the earliest. */
const GAP_MS = 40;
const PULSE_MS = 30;

export interface Pulse {
  /** 0 to 1. */
  strength: number;
  durationMs: number;
}

/** Turns torque from outside into pulses: one per change, none in free motion and none while a weight is only held. */
export class TouchFeel {
  #feltNm = 0;
  #pulsedMs = Number.NEGATIVE_INFINITY;

  /** `nm`: as in `touchNm`; null: unknown. */
  step(nm: number | null, nowMs: number): Pulse | null {
    if (nm === null || !Number.isFinite(nm)) return null;
    const changeNm = Math.abs(nm - this.#feltNm);
    if (changeNm < FELT_NM) return null;
    const isEnd = nm < FELT_NM;
    if (nowMs - this.#pulsedMs < GAP_MS && !isEnd) return null;
    this.#feltNm = nm;
    this.#pulsedMs = nowMs;
    const strength = WEAKEST + (1 - WEAKEST) * Math.min(1, changeNm / FULL_NM);
    return { strength: isEnd ? strength / 2 : strength, durationMs: PULSE_MS };
  }
}

/** The largest torque from outside on any joint; null: unknown. */
export const touchNm = (externalNm: readonly number[] | null): number | null =>
  externalNm === null ? null : externalNm.reduce((most, nm) => Math.max(most, Math.abs(nm)), 0);
