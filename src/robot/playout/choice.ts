import { NS_PER_S } from '../../core/time/clock.ts';
import { PLAYOUT_MODES, type PlayoutMode } from '../../messages/playout-request.ts';
import type { Preset } from './adaptive/parameters.ts';
import type { PriorJson } from './adaptive/prior.ts';
import { AdaptivePolicy } from './adaptive.ts';
import { fixedPolicy } from './fixed.ts';
import { nonePolicy } from './none.ts';
import type { PlayoutPolicy } from './playout-policy.ts';
import { warpElapsedNs, warpTowards } from './warp.ts';

const FIXED_MS = 60;
/** A move ends after this many consecutive commands that need no further change. */
const SETTLED = 10;
/** A delay further away than this is another clock relation, not a move. */
const MAX_MOVE_NS = NS_PER_S;

/**
 * Several playout modes, one of which is active. All of them see every command, so that the one chosen
 * already knows the link. The delay moves from the old mode to the new one by time warp, so that the arm does
 * not jump.
 */
export class PlayoutChoice implements PlayoutPolicy {
  readonly #own: PlayoutPolicy;
  readonly #modes: Record<PlayoutMode, PlayoutPolicy>;
  #chosen: PlayoutPolicy;
  #delayNs = Number.NaN;
  #newestNs = Number.NaN;
  /** Current delay of the move; NaN: no move. */
  #moveNs = Number.NaN;
  #rises = false;
  #settled = 0;

  /** `own`: the robot's policy, used until another is chosen, and as the policy of its mode. */
  constructor(own: PlayoutPolicy) {
    const isKind = (mode: PlayoutMode) => own.name === mode || own.name.startsWith(`${mode}:`);
    this.#own = own;
    this.#chosen = own;
    this.#modes = {
      none: isKind('none') ? own : nonePolicy(),
      fixed: isKind('fixed') ? own : fixedPolicy(FIXED_MS),
      adaptive: own instanceof AdaptivePolicy ? own : new AdaptivePolicy(),
    };
  }

  get name(): string {
    return this.#chosen.name;
  }

  get delayNs(): number {
    return this.#delayNs;
  }

  get floorNs(): number {
    return this.#modes.adaptive.floorNs ?? Number.NaN;
  }

  get needNs(): number {
    return this.#chosen.needNs ?? Number.NaN;
  }

  request(quality: Preset | null, capMs: number | null): void {
    this.#modes.adaptive.request?.(quality, capMs);
  }

  restart(prior?: PriorJson | null): void {
    for (const mode of PLAYOUT_MODES) this.#modes[mode].restart?.(prior);
    if (this.#isOther) this.#own.restart?.(prior);
    this.#delayNs = this.#newestNs = this.#moveNs = Number.NaN;
  }

  exportPrior(): PriorJson {
    return (this.#modes.adaptive as AdaptivePolicy).exportPrior();
  }

  choose(mode: PlayoutMode | null): void {
    const next = mode === null ? this.#own : this.#modes[mode];
    if (next === this.#chosen) return;
    this.#chosen = next;
    this.#moveNs = this.#delayNs;
    this.#settled = -1;
  }

  schedule(sampledRobotNs: number, receivedNs: number, syncEpoch?: number, isRepeated?: boolean): number {
    let dueNs = Number.NaN;
    for (let i = 0; i < PLAYOUT_MODES.length; i++) {
      const mode = this.#modes[PLAYOUT_MODES[i]!];
      const oneNs = mode.schedule(sampledRobotNs, receivedNs, syncEpoch, isRepeated);
      if (mode === this.#chosen) dueNs = oneNs;
    }
    if (this.#isOther) {
      const oneNs = this.#own.schedule(sampledRobotNs, receivedNs, syncEpoch, isRepeated);
      if (this.#own === this.#chosen) dueNs = oneNs;
    }
    if (!Number.isFinite(sampledRobotNs)) {
      this.#delayNs = this.#moveNs = Number.NaN;
      return dueNs;
    }
    this.#delayNs = this.#moved(sampledRobotNs, dueNs - sampledRobotNs);
    if (!(sampledRobotNs <= this.#newestNs)) this.#newestNs = sampledRobotNs;
    return sampledRobotNs + this.#delayNs;
  }

  /** Whether the robot's own policy is not one of the modes, such as a baseline. */
  get #isOther(): boolean {
    const { none, fixed, adaptive } = this.#modes;
    return this.#own !== none && this.#own !== fixed && this.#own !== adaptive;
  }

  /** The wanted delay, or as close to it as the warp allows by now. */
  #moved(sampledRobotNs: number, wantedNs: number): number {
    if (Number.isNaN(this.#moveNs)) return wantedNs;
    if (this.#settled < 0) {
      this.#settled = 0;
      this.#rises = wantedNs > this.#moveNs;
    }
    const goalNs = this.#rises ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    this.#moveNs = warpTowards(this.#moveNs, goalNs, warpElapsedNs(sampledRobotNs - this.#newestNs));
    const isThere = this.#rises ? this.#moveNs >= wantedNs : this.#moveNs <= wantedNs;
    this.#settled = isThere ? this.#settled + 1 : 0;
    const delayNs = isThere ? wantedNs : this.#moveNs;
    if (this.#settled >= SETTLED || Math.abs(this.#moveNs - wantedNs) > MAX_MOVE_NS)
      this.#moveNs = Number.NaN;
    return delayNs;
  }
}
