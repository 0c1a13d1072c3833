import { GravityLoad, type LinkMass } from '../geometry/gravity.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { StateSample } from '../messages/state-sample.ts';
import { type JointForce, PassiveForce } from './passive-force.ts';

/** What a leader does with the torques of its joints; all gains at 0: nothing. */
export interface ForceSettings {
  /** N·m on the leader per N·m from outside on the robot. */
  forceGain: number;
  /** Share of the leader's own weight that its motors carry. */
  gravityGain: number;
}

export interface LeaderBody {
  model: RobotModel;
  links: readonly LinkMass[];
  joints: readonly JointForce[];
}

/** Without a state of the robot for this long, nothing is reflected. */
const SILENCE_NS = 100e6;
/**
 * No hand moves a joint this fast for so long: the leader is then left without torque. Over a single cycle, a
 * busy machine that reads late makes any motion look fast.
 */
const RUNAWAY_RAD_S = 12;
const RUNAWAY_NS = 60e6;
const LONGEST_S = 0.1;

/** Why nothing is reflected; empty: the person feels the robot. */
export type Unfelt = '' | 'off' | 'let go' | 'silence' | 'not engaged' | 'effort unknown' | 'runaway';

/**
 * The torques of a leader: what carries its own weight, and what the robot meets, made passive. Reflection ends in
 * the cycle in which the person lets go, the robot is not engaged, or its state is missing; the weight stays
 * carried, so that the leader does not drop. Hot path: nothing allocates.
 */
export class ForceFeedback {
  readonly torquesNm: Float64Array;
  readonly passive: PassiveForce;
  unfelt: Unfelt = 'off';
  readonly #settings: ForceSettings;
  readonly #joints: readonly JointForce[];
  readonly #gravity: GravityLoad;
  readonly #gravityNm: Float64Array;
  readonly #wantedNm: Float64Array;
  readonly #externalNm: Float64Array;
  readonly #lastRad: Float64Array;
  #state: StateSample['state'] = 'disconnected';
  #knowsEffort = false;
  #arrivedNs = Number.NEGATIVE_INFINITY;
  #atNs = Number.NaN;
  #ranAway = false;
  /** When `#lastRad` was measured. */
  #lastNs = Number.NaN;

  constructor({ model, links, joints }: LeaderBody, settings: ForceSettings) {
    const count = joints.length;
    this.#settings = settings;
    this.#joints = joints;
    this.#gravity = new GravityLoad(model, links);
    this.passive = new PassiveForce(joints);
    this.torquesNm = new Float64Array(count);
    this.#gravityNm = new Float64Array(count);
    this.#wantedNm = new Float64Array(count);
    this.#externalNm = new Float64Array(count);
    this.#lastRad = new Float64Array(count);
  }

  /** A state of the robot, and when it arrived on the clock of `turn`. */
  robot({ state, externalNm }: Pick<StateSample, 'state' | 'externalNm'>, nowNs: number): void {
    this.#arrivedNs = nowNs;
    this.#state = state;
    this.#knowsEffort = externalNm !== null && externalNm.length === this.#externalNm.length;
    for (let i = 0; i < this.#externalNm.length; i++) {
      const nm = this.#knowsEffort ? externalNm![i]! : 0;
      this.#externalNm[i] = Number.isFinite(nm) ? nm : 0;
    }
  }

  /** Fills `torquesNm`, to be held until the next call. `follows`: the person wants the robot to follow. */
  turn(nowNs: number, qRad: Float64Array, follows: boolean): void {
    const dtS = Math.min(LONGEST_S, Math.max(1e-4, (nowNs - this.#atNs) / 1e9 || LONGEST_S));
    this.#watchSpeed(nowNs, qRad, follows);
    this.#atNs = nowNs;
    this.unfelt = this.#whyUnfelt(nowNs, follows);
    if (this.#ranAway) {
      this.passive.reset();
      this.torquesNm.fill(0);
      return;
    }
    if (this.unfelt === '') {
      for (let i = 0; i < this.#wantedNm.length; i++)
        this.#wantedNm[i] = this.#settings.forceGain * this.#externalNm[i]!;
      this.passive.next(qRad, dtS, this.#wantedNm, this.torquesNm);
    } else {
      this.passive.reset();
      this.torquesNm.fill(0);
    }
    this.#carry(qRad);
  }

  /** The leader no longer answers: whatever it holds is not known. */
  lose(): void {
    this.passive.reset();
    this.torquesNm.fill(0);
    this.#atNs = this.#lastNs = Number.NaN;
  }

  #whyUnfelt(nowNs: number, follows: boolean): Unfelt {
    if (this.#ranAway) return 'runaway';
    if (this.#settings.forceGain === 0) return 'off';
    if (!follows) return 'let go';
    if (!(nowNs - this.#arrivedNs <= SILENCE_NS)) return 'silence';
    if (this.#state !== 'engaged') return 'not engaged';
    return this.#knowsEffort ? '' : 'effort unknown';
  }

  /** Added last: gravity is a potential, so it takes back what it gives. */
  #carry(qRad: Float64Array): void {
    if (this.#settings.gravityGain === 0) return;
    this.#gravity.into(qRad, this.#gravityNm);
    for (let i = 0; i < this.torquesNm.length; i++) {
      const most = this.#joints[i]!.maxNm;
      const nm = this.torquesNm[i]! + this.#settings.gravityGain * this.#gravityNm[i]!;
      this.torquesNm[i] = Math.max(-most, Math.min(most, nm));
    }
  }

  /** After a runaway the person must let go and follow again. */
  #watchSpeed(nowNs: number, qRad: Float64Array, follows: boolean): void {
    if (this.#ranAway && !follows) this.#ranAway = false;
    const elapsedNs = nowNs - this.#lastNs;
    if (elapsedNs < RUNAWAY_NS) return;
    for (let i = 0; i < qRad.length; i++) {
      const radS = (Math.abs(qRad[i]! - this.#lastRad[i]!) / elapsedNs) * 1e9;
      if (radS > RUNAWAY_RAD_S) this.#ranAway = true;
      this.#lastRad[i] = qRad[i]!;
    }
    this.#lastNs = nowNs;
  }
}
