import type { EpisodeFigures } from '../messages/recording.ts';

/** Slower than this on every joint counts as standing still. */
const STILL_RAD_S = 0.02;
/** The offset is measured only where the robot has had this long to catch up. */
const SETTLED_S = 0.3;
/** Points of the motion curve. */
const CURVE_POINTS = 32;
/** Speeds are differences over at least this long, which filters encoder noise. */
const STEP_S = 0.05;

interface Instant {
  timeS: number;
  commandRad: readonly number[];
  stateRad: readonly number[];
}

/** Figures that tell good demonstrations from bad ones; rows in order. */
export class FigureMeter {
  readonly #recent: Instant[] = [];
  readonly #speeds: { timeS: number; radS: number }[] = [];
  #stillS = 0;
  #settledRows = 0;
  #offsetRad = 0;
  #stillSinceS = Number.NaN;
  #last: Instant | null = null;
  #peakRadS = 0;
  #interventions = 0;
  #wasPerson = false;

  /** `byPerson`: a person drives in a policy's place. */
  row(timeS: number, commandRad: readonly number[], stateRad: readonly number[], byPerson = false): void {
    const now = { timeS, commandRad, stateRad };
    if (byPerson && !this.#wasPerson) this.#interventions++;
    this.#wasPerson = byPerson;
    const before = this.#recent.find((each) => timeS - each.timeS <= 2 * STEP_S) ?? null;
    this.#recent.push(now);
    while (this.#recent.length > 0 && timeS - this.#recent[0]!.timeS > STEP_S) this.#recent.shift();
    if (before !== null && timeS - before.timeS >= STEP_S / 2) this.#speed(before, now);
    this.#last = now;
  }

  #speed(before: Instant, now: Instant): void {
    const stepS = now.timeS - before.timeS;
    const stateRadS = largestStep(before.stateRad, now.stateRad) / stepS;
    const commandRadS = largestStep(before.commandRad, now.commandRad) / stepS;
    this.#speeds.push({ timeS: now.timeS, radS: stateRadS });
    this.#peakRadS = Math.max(this.#peakRadS, stateRadS);
    const isStill = stateRadS < STILL_RAD_S && commandRadS < STILL_RAD_S;
    const passedS = now.timeS - (this.#last?.timeS ?? now.timeS);
    if (stateRadS < STILL_RAD_S) this.#stillS += passedS;
    if (!isStill) this.#stillSinceS = Number.NaN;
    else if (Number.isNaN(this.#stillSinceS)) this.#stillSinceS = now.timeS;
    if (isStill && now.timeS - this.#stillSinceS >= SETTLED_S) {
      this.#offsetRad += largestStep(now.commandRad, now.stateRad);
      this.#settledRows++;
    }
  }

  result(): EpisodeFigures {
    const durationS = this.#last?.timeS ?? 0;
    return {
      peakVelocityRadS: this.#peakRadS,
      stillShare: durationS > 0 ? Math.min(1, this.#stillS / durationS) : 0,
      offsetRad: this.#settledRows === 0 ? null : this.#offsetRad / this.#settledRows,
      endRad: [...(this.#last?.stateRad ?? [])],
      interventions: this.#interventions,
      motion: this.#curve(durationS),
    };
  }

  /** Mean speed in equal parts of the episode, rounded for storage. */
  #curve(durationS: number): number[] {
    const sums = new Float64Array(CURVE_POINTS);
    const counts = new Float64Array(CURVE_POINTS);
    for (const { timeS, radS } of this.#speeds) {
      const at = Math.min(CURVE_POINTS - 1, Math.floor((timeS / Math.max(durationS, 1e-9)) * CURVE_POINTS));
      sums[at] = sums[at]! + radS;
      counts[at] = counts[at]! + 1;
    }
    return Array.from(sums, (sum, i) => Math.round((1000 * sum) / Math.max(1, counts[i]!)) / 1000);
  }
}

function largestStep(a: readonly number[], b: readonly number[]): number {
  let most = 0;
  for (let i = 0; i < Math.min(a.length, b.length); i++) most = Math.max(most, Math.abs(a[i]! - b[i]!));
  return most;
}
