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
  /** Source of parameters not given; default `balanced`. */
  preset?: Preset;
  /** What `exportPrior` returned in an earlier session on the same network. */
  prior?: PriorJson | undefined;
}

/** An apparent delay beyond this cannot be real: the stamp is ignored. */
const MAX_APPARENT_NS = 1e13;
/** MAX_STRANGERS consecutive stamps this far behind the newest indicate a new clock relation. */
const STRANGE_NS = NS_PER_S;
const MAX_STRANGERS = 8;
const EVALUATE_EVERY_NS = 100 * NS_PER_MS;
/** No reaction for this long to a gap that may turn out to be a hole. */
const SUSPICION_NS = 250 * NS_PER_MS;
const MAX_LOST = 12;
/** Lateness of a lost command that the next packet makes up for, in periods. */
const UNFELT_PERIODS = 1.04;
/** A silence this long is a pause of the sender, not loss. */
const PAUSE_NS = NS_PER_S;

/**
 * Follows the floor of the apparent delay and keeps just enough delay above it that no remembered second
 * would have stuttered noticeably. docs/playout.md explains the design and what each part contributes. State
 * is bounded; nothing is allocated per command.
 */
export class AdaptivePolicy implements PlayoutPolicy {
  #name: string;
  /** The robot's own settings; the operator's requests start from here. */
  readonly #chosen: Partial<AdaptiveParameters>;
  readonly #preset: Preset;
  #parameters: AdaptiveParameters;
  readonly #clock = new ClockSteps();
  readonly #floor: Floor;
  readonly #ledger: LateLedger;
  #memory: NeedMemory;
  /**
   * The longest that any command waits, for any earlier stamps: the robot's own cap plus the largest drop of
   * the apparent delay that is attributed to the network. docs/playout.md derives it.
   */
  readonly #longestWaitNs: number;
  #toleranceNs = 0;
  #triggerNs = 0;
  #holdNs = 0;
  #repairNs = 0;
  #anchored = false;
  #strangers = 0;
  /** Delay after the stamp, with clock steps removed. */
  #playNs = 0;
  #newestNs = 0;
  #secondEndsNs = 0;
  #reactionNs = 0;
  /** Delay added while the commands of a burst of losses are repaired. */
  #repairingNs = 0;
  /** Recent lateness that was felt, the longest wait of it, and when that was. */
  #lateNs = 0;
  #peakNs = 0;
  #peakAtNs = Number.NEGATIVE_INFINITY;
  /** When a command last waited longer than the cap. */
  #beyondNs = Number.NEGATIVE_INFINITY;
  #reactedNs = Number.NEGATIVE_INFINITY;
  #evaluateAtNs = 0;
  #isPutOff = false;
  #isDirty = false;
  #inHole = false;
  #holeSinceNs = 0;
  /** When enough was missing that it may be a hole. */
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
    const { toleranceMs, triggerMs, holdMs, repairMs } = this.#parameters;
    this.#repairNs = repairMs * NS_PER_MS;
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
    return Math.min(this.#memory.levelNs + this.#reactionNs + this.#repairingNs, this.#ledger.capNs);
  }

  exportPrior(): PriorJson {
    return this.#memory.exportPrior();
  }

  restart(prior?: PriorJson | null): void {
    this.#anchored = false;
    if (prior !== undefined) this.#memory = new NeedMemory(this.#parameters, prior ?? undefined);
  }

  schedule(sampledRobotNs: number, receivedNs: number, syncEpoch?: number, isRepeated = false): number {
    if (!(Math.abs(receivedNs - sampledRobotNs) < MAX_APPARENT_NS)) {
      this.#anchored = false;
      return receivedNs + this.needNs;
    }
    if (!this.#anchored) this.#anchor(sampledRobotNs + this.#clock.correctionNs, receivedNs);
    this.#clock.floorNs = this.#floor.valueNs;
    this.#clock.usualNs = this.#memory.usualNs;
    this.#clock.rectify(sampledRobotNs, receivedNs, syncEpoch);
    const { atNs } = this.#clock;
    if (this.#clock.stepNs !== 0) this.#onStep();
    this.#strangers = this.#newestNs - atNs > STRANGE_NS ? this.#strangers + 1 : 0;
    if (this.#strangers === MAX_STRANGERS) this.#anchor(atNs, receivedNs);
    if (atNs > this.#newestNs) this.#learn(atNs, receivedNs - atNs, isRepeated);
    // Overtaken: a newer command has already provided this information about the link.
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

  /** Discards what was learnt since a step that was detected late: it was the clock, not the link. */
  #onStep(): void {
    const { steppedAtNs, beforeNs } = this.#clock;
    if (Number.isNaN(steppedAtNs)) return;
    this.#ledger.forgetSince(steppedAtNs);
    this.#floor.fill(beforeNs);
  }

  #learn(atNs: number, apparentNs: number, isRepeated: boolean): void {
    const gapNs = atNs - this.#newestNs;
    const elapsedNs = gapNs < Number.POSITIVE_INFINITY ? warpElapsedNs(gapNs) : 0;
    this.#newestNs = atNs;
    const waitNs = apparentNs - this.#floor.add(atNs, apparentNs);
    if (!isRepeated) this.#memory.add(waitNs);
    if (atNs >= this.#secondEndsNs) {
      this.#memory.closeSecond();
      this.#secondEndsNs = atNs + NS_PER_S;
    }
    const triggerNs = this.#memory.usualNs + this.#triggerNs;
    let reactsToNs = waitNs;
    if (isRepeated) reactsToNs = this.#noteRepeated(atNs, waitNs, elapsedNs);
    else this.#note(atNs, waitNs, gapNs, elapsedNs, triggerNs);
    if (this.#isDirty && atNs >= this.#evaluateAtNs && !this.#clock.isPending)
      this.#evaluate(atNs, triggerNs);
    this.#react(atNs, reactsToNs, elapsedNs, triggerNs);
    if (!isRepeated) this.#guard(atNs, waitNs, elapsedNs);
    this.#slowDown(waitNs, elapsedNs, isRepeated);
    const { warpUp, warpDown } = this.#parameters;
    const targetNs = this.#floor.valueNs + this.needNs;
    this.#playNs = warpTowards(this.#playNs, targetNs, elapsedNs, warpUp, warpDown);
  }

  /** Adds commands that may have been late to the ledger. */
  #note(atNs: number, waitNs: number, gapNs: number, elapsedNs: number, triggerNs: number): void {
    const { periodNs } = this.#clock;
    if (this.#inHole) {
      if (waitNs <= this.#toleranceNs || atNs - this.#holeSinceNs > NS_PER_S) this.#inHole = false;
      return;
    }
    if (gapNs > 1.7 * periodNs && gapNs < PAUSE_NS) {
      // A single lost command is one period late, which is not noticeable.
      const felt = Math.min(MAX_LOST, Math.round(gapNs / periodNs) - 2);
      if (felt > 0) this.#noteLost(atNs, felt);
    }
    if (waitNs <= triggerNs && waitNs <= this.#toleranceNs) return;
    this.#ledger.add(atNs, waitNs, Math.min(elapsedNs, 1.5 * periodNs));
    this.#isDirty = true;
  }

  /**
   * A command repeated by a later packet: worth a delay of its own only up to `repairMs`. Beyond that it is in time if
   * the delay happens to be long enough, else as good as lost. Returns the wait that is worth a reaction.
   */
  #noteRepeated(atNs: number, waitNs: number, elapsedNs: number): number {
    if (this.#inHole) return 0;
    const { periodNs } = this.#clock;
    // A single lost command is one period late, which is not noticeable.
    const feltNs = waitNs - Math.max(0, UNFELT_PERIODS * periodNs - this.#toleranceNs);
    if (feltNs <= this.#toleranceNs) return 0;
    const isWorthIt = feltNs <= this.#repairNs + this.#toleranceNs;
    if (!isWorthIt && feltNs <= this.needNs + this.#toleranceNs) return 0;
    if (isWorthIt) this.#ledger.add(atNs, feltNs, Math.min(elapsedNs, 1.5 * periodNs));
    else this.#ledger.addLost(atNs, 1, periodNs);
    this.#isDirty = true;
    return this.#repairNs >= this.#ledger.capNs ? waitNs : 0;
  }

  #noteLost(atNs: number, felt: number): void {
    const { periodNs } = this.#clock;
    this.#ledger.addLost(atNs, felt, periodNs);
    if (felt * periodNs > this.#ledger.budgetNs) this.#suspectedNs = atNs;
    // Leave time for overtaken commands to arrive.
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
    else if (needNs > knownNs) this.#memory.raise(needNs, atNs - this.#beyondNs < 2 * NS_PER_S);
  }

  /** No delay would have helped, so the hole adds no delay afterwards. */
  #enterHole(atNs: number): void {
    this.#inHole = true;
    this.#holeSinceNs = atNs;
    this.#ledger.clear();
  }

  /**
   * Once part of a second's lateness is used up, the delay grows to the longest wait of that trouble, so that the next
   * one does not use up the rest.
   */
  #guard(atNs: number, waitNs: number, elapsedNs: number): void {
    const { budgetNs, capNs } = this.#ledger;
    const { guardShare, guardMs, warpUp } = this.#parameters;
    this.#lateNs = Math.max(0, this.#lateNs - (elapsedNs * budgetNs) / NS_PER_S);
    if (waitNs >= capNs) this.#beyondNs = atNs;
    // What no permitted delay covers is not worth one.
    const isHopeless = atNs - this.#beyondNs < NS_PER_S || atNs - this.#suspectedNs < NS_PER_S;
    if (this.#inHole || isHopeless) return;
    if (waitNs - (this.#playNs - this.#floor.valueNs) > this.#toleranceNs) {
      this.#lateNs += Math.min(elapsedNs, 1.5 * this.#clock.periodNs);
      this.#peakNs = Math.max(this.#peakNs, waitNs);
      this.#peakAtNs = atNs;
    }
    if (atNs - this.#peakAtNs > guardMs * NS_PER_MS) this.#peakNs = 0;
    const mostNs = this.#peakNs - this.#memory.levelNs;
    if (this.#lateNs < guardShare * budgetNs || this.#reactionNs >= mostNs) return;
    this.#reactionNs = Math.min(
      this.#reactionNs + warpUp * Math.min(elapsedNs, 2 * this.#clock.periodNs),
      mostNs,
    );
    this.#reactedNs = atNs;
  }

  /**
   * The commands of a burst arrive together in the packet behind it, oldest first. While they are late the delay grows,
   * so that the last of them are in time; it is given back at once, because the next burst is independent.
   */
  #slowDown(waitNs: number, elapsedNs: number, isRepeated: boolean): void {
    const { giveBack, warpUp } = this.#parameters;
    const isLate = waitNs > this.#playNs - this.#floor.valueNs;
    const addedNs = warpUp * Math.min(elapsedNs, 2 * this.#clock.periodNs);
    if (isRepeated && isLate) this.#repairingNs = Math.min(this.#repairingNs + addedNs, this.#ledger.capNs);
    else this.#repairingNs = Math.max(0, this.#repairingNs - giveBack * elapsedNs);
  }

  /** Adds delay while commands arrive late, so that later ones of the same stall are less late. */
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
