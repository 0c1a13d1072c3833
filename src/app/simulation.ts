import { ManualClock } from '../core/time/clock.ts';
import { type Chain, createChain } from '../geometry/chain.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { InputDevice } from '../input/device.ts';
import { emptyHandSample, type HandSample, type SampleStatus } from '../messages/hand-sample.ts';
import type { SupervisorState } from '../messages/robot-state.ts';
import type { Rig } from '../rig/rig.ts';
import { LocalNetwork } from '../wire/transports/local.ts';
import { joinLocally, type LocalPair } from './local-pair.ts';

/** One hand sample of a simulation. Operator frame: x right, y up, z toward the operator. */
export interface SimulatedHand {
  tS: number;
  positionM: number[];
  quatXyzw: number[];
  gripper: number;
  clutch: boolean;
  tracking: boolean;
}

/** One control cycle: where the hand asks the guided point to be, and where the target puts it (base frame). */
export interface SimulatedCycle {
  tS: number;
  state: SupervisorState;
  limitedBy: string[];
  targetRad: number[];
  wantedM: number[];
  wantedQuatXyzw: number[];
  toolM: number[];
  toolQuatXyzw: number[];
}

const INPUT = 'simulated';
const DELAY_NS = 1e6;
/** Before the first sample: clocks agree, the robot is armed. */
const PRELUDE_S = 2;
/** A hand that is silent for longer is stale, as with real devices. */
const STALE_NS = 100e6;

/** Both control loops of a rig on a manual clock, with a simulated arm: hand samples in, control cycles out. */
export class Simulation {
  readonly pair: LocalPair;
  readonly #network: LocalNetwork;
  readonly #hand: FedHand;
  readonly #chain: Chain;
  readonly #onCycle: (cycle: SimulatedCycle) => void;
  readonly #zeroNs: number;
  readonly #periodNs: number;
  readonly #placeM = new Float64Array(3);
  readonly #quatXyzw = new Float64Array(4);
  #cycle = 0;

  static async open(
    rig: Rig,
    model: RobotModel,
    onCycle: (cycle: SimulatedCycle) => void,
  ): Promise<Simulation> {
    const hand = new FedHand();
    const clock = new ManualClock();
    const network = new LocalNetwork(
      clock,
      (untilNs) => clock.advanceTo(untilNs),
      () => DELAY_NS,
    );
    const operator = { ...rig.operator, autoArm: true, input: INPUT };
    const inputs = new Map([[INPUT, { device: hand, automatic: true }]]);
    const pair = await joinLocally({
      rig: { ...rig, operator },
      model,
      clock,
      network,
      sealed: false,
      inputs,
    });
    const periodNs = 1e9 / rig.robot.controlHz;
    const zeroNs = clock.nowNs() + Math.ceil((PRELUDE_S * 1e9) / periodNs) * periodNs;
    network.run(zeroNs);
    return new Simulation(pair, network, hand, createChain(model), onCycle, zeroNs, periodNs);
  }

  private constructor(
    pair: LocalPair,
    network: LocalNetwork,
    hand: FedHand,
    chain: Chain,
    onCycle: (cycle: SimulatedCycle) => void,
    zeroNs: number,
    periodNs: number,
  ) {
    this.pair = pair;
    this.#network = network;
    this.#hand = hand;
    this.#chain = chain;
    this.#onCycle = onCycle;
    this.#zeroNs = zeroNs;
    this.#periodNs = periodNs;
  }

  /** Runs the cycles before this sample, then takes it. Samples come in order of time. */
  feed(hand: SimulatedHand): void {
    const atNs = this.#zeroNs + hand.tS * 1e9;
    while (this.#zeroNs + this.#cycle * this.#periodNs < atNs) this.#run();
    this.#network.run(atNs);
    this.#hand.feed(hand, atNs);
  }

  /** Runs the cycles up to this time. */
  finish(tS: number): void {
    while (this.#cycle * this.#periodNs <= tS * 1e9) this.#run();
  }

  #run(): void {
    this.#network.run(this.#zeroNs + this.#cycle * this.#periodNs);
    const { supervisor } = this.pair.robot;
    const { guidance } = this.pair.operator;
    const [placeM, quatXyzw] = [this.#placeM, this.#quatXyzw];
    const lead = guidance?.lead ?? this.#chain.joints;
    this.#chain.frame(supervisor.targetRad, this.#chain.joints, placeM, quatXyzw);
    const toolQuatXyzw = [...quatXyzw];
    if (lead !== this.#chain.joints) this.#chain.frame(supervisor.targetRad, lead, placeM, quatXyzw);
    const toolM = [...placeM];
    const isWanted = guidance?.wanted(this.#hand.newest, placeM, quatXyzw) === true;
    this.#onCycle({
      tS: Math.round(this.#cycle * this.#periodNs) / 1e9,
      state: supervisor.state,
      limitedBy: [...new Set([supervisor.limitedBy, guidance?.limitedBy ?? ''])].filter((by) => by !== ''),
      targetRad: [...supervisor.targetRad],
      wantedM: isWanted ? [...placeM] : toolM,
      wantedQuatXyzw: isWanted ? [...quatXyzw] : toolQuatXyzw,
      toolM,
      toolQuatXyzw,
    });
    this.#cycle++;
  }
}

/** An input whose samples are given. */
class FedHand implements InputDevice {
  readonly newest: HandSample = emptyHandSample();
  #isFed = false;

  feed({ positionM, quatXyzw, gripper, clutch, tracking }: SimulatedHand, nowNs: number): void {
    this.newest.takenNs = nowNs;
    this.newest.positionM.set(positionM);
    this.newest.quatXyzw.set(quatXyzw);
    Object.assign(this.newest, { gripper, clutch, tracking });
    this.#isFed = true;
  }

  ingest(): null {
    return null;
  }

  sample(nowNs: number, out: HandSample): SampleStatus {
    const { takenNs, positionM, quatXyzw, gripper, clutch, tracking } = this.newest;
    const isFresh = this.#isFed && nowNs - takenNs <= STALE_NS;
    out.takenNs = takenNs;
    out.positionM.set(positionM);
    out.quatXyzw.set(quatXyzw);
    Object.assign(out, { gripper, clutch, tracking: isFresh && tracking, estop: false });
    return isFresh ? 'ok' : this.#isFed ? 'stale' : 'none';
  }
}
