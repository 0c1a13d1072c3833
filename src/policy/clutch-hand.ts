export interface ClutchParts {
  /** Silence after which the operator makes the robot hold: continuing then starts with an open clutch. */
  holdAfterMs: number;
  /** Whether the operator accepts actions from here: only after its lock on an earlier program has expired. */
  isAdmitted: () => boolean;
  /** Whether the robot currently follows, by the operator's last report. */
  follows: () => boolean;
}

/** Long enough for every tick of an operator to see it. */
const OPEN_NS = 100e6;
/** From closing the clutch to following: the link, playout and the report back. */
const ENGAGE_NS = 3000e6;

/** A policy's clutch: opened briefly at the start and after its own pause; stays open once someone else has ended it. */
export class ClutchHand {
  readonly #parts: ClutchParts;
  #actedNs = Number.NEGATIVE_INFINITY;
  #openedNs = Number.NEGATIVE_INFINITY;
  /** When the robot was last seen to follow. */
  #followedNs = Number.NEGATIVE_INFINITY;
  #overruled = false;

  constructor(parts: ClutchParts) {
    this.#parts = parts;
  }

  /** Whether the clutch is closed for an action sent now. */
  isClosed(nowNs: number): boolean {
    const { holdAfterMs, follows, isAdmitted } = this.#parts;
    if (nowNs - this.#actedNs > holdAfterMs * 1e6) this.#openedNs = this.#followedNs = nowNs;
    else if (!isAdmitted()) this.#openedNs = nowNs;
    this.#actedNs = nowNs;
    if (follows()) this.#followedNs = nowNs;
    if (nowNs - this.#followedNs > ENGAGE_NS) this.#overruled = true;
    return !this.#overruled && nowNs - this.#openedNs > OPEN_NS;
  }

  /** The robot was stopped, held or taken over by someone else. */
  get overruled(): boolean {
    return this.#overruled;
  }

  /** A person handed the robot back: engages anew. */
  resume(): void {
    this.#overruled = false;
    this.#actedNs = Number.NEGATIVE_INFINITY;
  }
}
