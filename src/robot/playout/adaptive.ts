import { NS_PER_MS, NS_PER_S } from '../../core/time/clock.ts';
import { ClockSteps, IMPLAUSIBLE_NS } from './adaptive/clock-steps.ts';
import { Floor } from './adaptive/floor.ts';
import { LateLedger } from './adaptive/late-ledger.ts';
import { NeedMemory } from './adaptive/memory.ts';
import { type AdaptiveParameters, PRESETS, type Preset } from './adaptive/parameters.ts';
import type { PriorJson } from './adaptive/prior.ts';
import type { PlayoutPolicy } from './playout-policy.ts';
import { warpElapsedNs, warpTowards } from './warp.ts';

export interface AdaptiveOptions extends Partial<AdaptiveParameters> {
  /** Where the parameters not given come from; `balanced` if not told. */
  preset?: Preset;
  /** What `exportPrior` returned in an earlier session on the same network. */
  prior?: PriorJson | undefined;
}

/** Apparent delays beyond this are no delays: such a stamp is taken for none. */
const MAX_APPARENT_NS = 1e13;
/** So many stamps in a row so far behind the newest belong to another clock relation. */
const STRANGE_NS = NS_PER_S;
const MAX_STRANGERS = 8;
const EVALUATE_EVERY_NS = 100 * NS_PER_MS;
/** A gap that may prove a hole is not reacted to for so long. */
const SUSPICION_NS = 250 * NS_PER_MS;
const MAX_LOST = 12;
/** A silence this long is a pause of the sender, not loss. */
const PAUSE_NS = NS_PER_S;

/**
 * Follows the floor of the apparent delay and keeps above it just the delay with which no second would have been
 * felt to stutter, as far as remembered. docs/playout.md tells how and what each part is worth.
 * State is bounded; nothing is allocated per command.
 */
export class AdaptivePolicy implements PlayoutPolicy {
  #name: string;
  /** What the robot's own settings say; the operator's wishes start from here. */
  readonly #chosen: Partial<AdaptiveParameters>;
  readonly #preset: Preset;
  #parameters: AdaptiveParameters;
  readonly #clock = new ClockSteps();
  readonly #floor: Floor;
  readonly #ledger: LateLedger;
  #memory: NeedMemory;
  /**
   * The longest that any command waits, whatever the stamps before it: the robot's own cap, and the largest fall of
   * the apparent delay that is taken for the network's. docs/playout.md derives it.
   */
  readonly #longestWaitNs: number;
  #toleranceNs = 0;
  #triggerNs = 0;
  #holdNs = 0;
  #anchored = false;
  #strangers = 0;
  /** Delay after the stamp, both without clock steps. */
  #playNs = 0;
  #newestNs = 0;
  #secondEndsNs = 0;
  #reactionNs = 0;
  #reactedNs = Number.NEGATIVE_INFINITY;
  #evaluateAtNs = 0;
  #isPutOff = false;
  #isDirty = false;
  #inHole = false;
  #holeSinceNs = 0;
  /** When so much was missing that it may prove a hole. */
  #suspectedNs = Number.NEGATIVE_INFINITY;
  #delayNs = Number.NaN;

  constructor(options: AdaptiveOptions = {}) {
    const { preset = 'balanced', prior, ...chosen } = options;
    const parameters = { ...PRESETS[preset], ...chosen };
    this.#name = nameOf(preset, chosen.capMs);
    this.#preset = preset;
    this.#chosen = chosen;
    this.#parameters = parameters;
    this.#floor = new Floor(parameters.floorMs);
    this.#ledger = new LateLedger(parameters);
    this.#memory = new NeedMemory(parameters, prior);
    this.#longestWaitNs = parameters.capMs * NS_PER_MS + IMPLAUSIBLE_NS;
    this.#derive();
  }

  #derive(): void {
    const { toleranceMs, triggerMs, holdMs } = this.#parameters;
    this.#toleranceNs = toleranceMs * NS_PER_MS;
    this.#triggerNs = triggerMs * NS_PER_MS;
    this.#holdNs = holdMs * NS_PER_MS;
  }

  get name(): string {
    return this.#name;
  }

  request(quality: Preset | null, capMs: number | null): void {
    const preset = quality ?? this.#preset;
    const ownCapMs = this.#chosen.capMs ?? PRESETS[preset].capMs;
    const mostMs = capMs === null ? ownCapMs : Math.min(ownCapMs, capMs);
    this.#parameters = { ...PRESETS[preset], ...this.#chosen, capMs: mostMs };
    this.#name = nameOf(preset, mostMs === PRESETS[preset].capMs ? undefined : mostMs);
    this.#ledger.configure(this.#parameters);
    this.#memory.configure(this.#parameters);
    this.#derive();
  }

  get delayNs(): number {
    return this.#delayNs;
  }

  get floorNs(): number {
    return this.#floor.valueNs + this.#clock.correctionNs;
  }

  get needNs(): number {
    return Math.min(this.#memory.levelNs + this.#reactionNs, this.#ledger.capNs);
  }

  exportPrior(): PriorJson {
    return this.#memory.exportPrior();
  }

  restart(prior?: PriorJson | null): void {
    this.#anchored = false;
    if (prior !== undefined) this.#memory = new NeedMemory(this.#parameters, prior ?? undefined);
  }

  schedule(sampledRobotNs: number, receivedNs: number, syncEpoch?: number): number {
    if (!(Math.abs(receivedNs - sampledRobotNs) < MAX_APPARENT_NS)) {
      this.#anchored = false;
      return receivedNs + this.needNs;
    }
    if (!this.#anchored) this.#anchor(sampledRobotNs + this.#clock.correctionNs, receivedNs);
    const { usualNs } = this.#memory;
    const atNs = this.#clock.rectify(sampledRobotNs, receivedNs, this.#floor.valueNs, usualNs, syncEpoch);
    if (this.#clock.stepNs !== 0) this.#onStep();
    this.#strangers = this.#newestNs - atNs > STRANGE_NS ? this.#strangers + 1 : 0;
    if (this.#strangers === MAX_STRANGERS) this.#anchor(atNs, receivedNs);
    if (atNs > this.#newestNs) this.#learn(atNs, receivedNs - atNs);
    // Overtaken: a newer command has told about the link already.
    else this.#ledger.found(atNs, receivedNs - atNs - this.#floor.valueNs);
    this.#playNs = Math.min(this.#playNs, receivedNs - atNs + this.#longestWaitNs);
    const dueNs = atNs + this.#playNs;
    this.#delayNs = dueNs - sampledRobotNs;
    return dueNs;
  }

  #anchor(atNs: number, receivedNs: number): void {
    this.#anchored = true;
    this.#strangers = 0;
    this.#clock.restart();
    this.#floor.fill(Number.POSITIVE_INFINITY);
    this.#ledger.clear();
    this.#playNs = receivedNs - atNs + this.needNs;
    this.#newestNs = Number.NEGATIVE_INFINITY;
    this.#reactedNs = Number.NEGATIVE_INFINITY;
    this.#secondEndsNs = atNs + NS_PER_S;
    this.#evaluateAtNs = atNs;
    this.#suspectedNs = Number.NEGATIVE_INFINITY;
    this.#inHole = false;
  }

  /** What the commands since a late-seen step seemed to say was the clock's. */
  #onStep(): void {
    const { steppedAtNs, beforeNs } = this.#clock;
    if (Number.isNaN(steppedAtNs)) return;
    this.#ledger.forgetSince(steppedAtNs);
    this.#floor.fill(beforeNs);
  }

  #learn(atNs: number, apparentNs: number): void {
    const gapNs = atNs - this.#newestNs;
    const elapsedNs = gapNs < Number.POSITIVE_INFINITY ? warpElapsedNs(gapNs) : 0;
    this.#newestNs = atNs;
    const waitNs = apparentNs - this.#floor.add(atNs, apparentNs);
    this.#memory.add(waitNs);
    if (atNs >= this.#secondEndsNs) {
      this.#memory.closeSecond();
      this.#secondEndsNs = atNs + NS_PER_S;
    }
    const triggerNs = this.#memory.usualNs + this.#triggerNs;
    this.#note(atNs, waitNs, gapNs, elapsedNs, triggerNs);
    if (this.#isDirty && atNs >= this.#evaluateAtNs && !this.#clock.isPending)
      this.#evaluate(atNs, triggerNs);
    this.#react(atNs, waitNs, elapsedNs, triggerNs);
    const { warpUp, warpDown } = this.#parameters;
    const targetNs = this.#floor.valueNs + this.needNs;
    this.#playNs = warpTowards(this.#playNs, targetNs, elapsedNs, warpUp, warpDown);
  }

  /** Enters what may have been late into the ledger. */
  #note(atNs: number, waitNs: number, gapNs: number, elapsedNs: number, triggerNs: number): void {
    const { periodNs } = this.#clock;
    if (this.#inHole) {
      if (waitNs <= this.#toleranceNs || atNs - this.#holeSinceNs > NS_PER_S) this.#inHole = false;
      return;
    }
    if (gapNs > 1.7 * periodNs && gapNs < PAUSE_NS) {
      // A command lost alone is one period late: not felt.
      const felt = Math.min(MAX_LOST, Math.round(gapNs / periodNs) - 2);
      if (felt > 0) this.#noteLost(atNs, felt);
    }
    if (waitNs <= triggerNs && waitNs <= this.#toleranceNs) return;
    this.#ledger.add(atNs, waitNs, Math.min(elapsedNs, 1.5 * periodNs));
    this.#isDirty = true;
  }

  #noteLost(atNs: number, felt: number): void {
    const { periodNs } = this.#clock;
    this.#ledger.addLost(atNs, felt, periodNs);
    if (felt * periodNs > this.#ledger.budgetNs) this.#suspectedNs = atNs;
    // Overtaken commands get the time to come after all.
    if (!this.#isPutOff) this.#evaluateAtNs = atNs + EVALUATE_EVERY_NS;
    this.#isPutOff = true;
    this.#isDirty = true;
  }

  #evaluate(atNs: number, triggerNs: number): void {
    this.#isDirty = false;
    this.#isPutOff = false;
    this.#evaluateAtNs = atNs + EVALUATE_EVERY_NS;
    const knownNs = this.#memory.secondNs;
    const needNs = this.#ledger.needNs(atNs, knownNs, triggerNs);
    if (needNs === Number.POSITIVE_INFINITY) this.#enterHole(atNs);
    else if (needNs > knownNs) this.#memory.raise(needNs);
  }

  /** No delay would have helped: nothing of it is paid for afterwards. */
  #enterHole(atNs: number): void {
    this.#inHole = true;
    this.#holeSinceNs = atNs;
    this.#ledger.clear();
  }

  /** Slows down while commands come late: what is under way is met halfway. */
  #react(atNs: number, waitNs: number, elapsedNs: number, triggerNs: number): void {
    const { giveBack, warpUp, leadShare } = this.#parameters;
    if (this.#reactionNs > 0 && atNs - this.#reactedNs > this.#holdNs)
      this.#reactionNs = Math.max(0, this.#reactionNs - giveBack * elapsedNs);
    if (this.#inHole || atNs - this.#suspectedNs < SUSPICION_NS) return;
    if (waitNs <= triggerNs || waitNs >= this.#ledger.capNs) return;
    if (waitNs <= (1 - leadShare) * this.needNs) return;
    const mostNs = this.#ledger.capNs - this.#memory.levelNs;
    const addedNs = warpUp * Math.min(elapsedNs, 2 * this.#clock.periodNs);
    this.#reactionNs = Math.min(this.#reactionNs + addedNs, mostNs);
    this.#reactedNs = atNs;
  }
}

const nameOf = (preset: Preset, capMs: number | undefined): string =>
  `adaptive${preset === 'balanced' ? '' : `:${preset}`}${capMs === undefined ? '' : `,cap=${capMs}`}`;
