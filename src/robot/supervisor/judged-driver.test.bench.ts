import type { RobotModel } from '../../geometry/robot-model.ts';
import type { TickStatus } from '../../messages/robot-state.ts';
import type { JointReading } from '../driver.ts';
import { HostileDriver } from './supervisor.test.bench.ts';
import { type JudgedJoint, TargetJudge } from './target-judge.test.bench.ts';

export const FEEDBACKS = ['true', 'noisy', 'lagging', 'frozen', 'jumping', 'nan', 'future'] as const;
export type Feedback = (typeof FEEDBACKS)[number];

const FOLLOWS_IN_S = 0.03;
const COASTS_S = 0.08;
const LAGS_NS = 80e6;

/**
 * Judges every target on arrival. The arm lags behind it, coasts when power is cut, and may report bad
 * readings.
 */
export class JudgedDriver extends HostileDriver {
  readonly judge: TargetJudge;
  feedback: Feedback = 'true';
  readonly #targetRad: Float64Array;
  readonly #velocitiesRadS: Float64Array;
  readonly #shownRad: Float64Array;
  #atNs = Number.NaN;
  #reads = 0;

  constructor(model: RobotModel, limits: readonly JudgedJoint[]) {
    super(model.homeRad);
    this.judge = new TargetJudge(limits);
    this.#targetRad = this.measured.slice();
    this.#shownRad = this.measured.slice();
    this.#velocitiesRadS = new Float64Array(this.measured.length);
  }

  override enable(): TickStatus {
    if (!this.enabled) this.#targetRad.set(this.measured);
    this.enabled = this.enableStatus === 'ok';
    return this.enableStatus;
  }

  override read(nowNs: number, out: JointReading): TickStatus {
    this.judge.cycle(nowNs);
    this.#move(nowNs);
    this.#reads++;
    if (this.feedback !== 'frozen') this.#shownRad.set(this.measured);
    out.positionsRad.set(this.#shownRad);
    out.velocitiesRadS.set(this.#velocitiesRadS);
    out.gripper = 0;
    out.robotNs = nowNs;
    if (this.feedback === 'lagging') out.robotNs -= LAGS_NS;
    else if (this.feedback === 'future') out.robotNs += 1e9;
    const i = this.#reads % this.measured.length;
    if (this.feedback === 'noisy') out.positionsRad[i]! += 0.004 * Math.sin(12.9898 * this.#reads);
    else if (this.feedback === 'jumping' && this.#reads % 7 === 0) out.positionsRad[i]! += 1.1;
    else if (this.feedback === 'nan') out.positionsRad[i] = Number.NaN;
    if (this.readStatus !== 'ok') out.positionsRad.fill(-1.23);
    return this.readStatus;
  }

  #move(nowNs: number): void {
    const dtS = Math.max(0, Math.min(1, (nowNs - this.#atNs) / 1e9));
    this.#atNs = nowNs;
    if (!(dtS > 0)) return;
    for (let i = 0; i < this.measured.length; i++) {
      const from = this.measured[i]!;
      if (this.enabled)
        this.measured[i] = from + (this.#targetRad[i]! - from) * (1 - Math.exp(-dtS / FOLLOWS_IN_S));
      else {
        this.measured[i] = from + this.#velocitiesRadS[i]! * COASTS_S * (1 - Math.exp(-dtS / COASTS_S));
        this.#velocitiesRadS[i]! *= Math.exp(-dtS / COASTS_S);
      }
      if (this.enabled) this.#velocitiesRadS[i] = (this.measured[i]! - from) / dtS;
    }
  }

  override write(nowNs: number, positionsRad: Float64Array, gripper: number): TickStatus {
    this.judge.wrote(nowNs, positionsRad);
    if (this.enabled) this.#targetRad.set(positionsRad);
    this.onWrite({ nowNs, positions: [...positionsRad], gripper });
    return this.writeStatus;
  }

  override stop(): void {
    if (this.enabled) this.judge.unpowered();
    super.stop();
  }
}
