import assert from 'node:assert/strict';
import { emptyRctp, encodeRctp, RCTP_BYTES } from '../../src/input/codecs/rctp-codec.ts';
import { encodeTarget } from '../../src/leader/joints-sink.ts';
import { OPERATOR_SOCKETS } from '../../src/operator/loop.ts';
import { writeFrame } from '../../src/wire/codecs/frame.ts';
import { peerOf } from '../../src/wire/reactor.ts';
import { SimulatedRig } from '../loops/simulated-rig.ts';
import { xorshift } from '../xorshift.ts';

const OVERRIDES = [
  'operator.inputs.joints.port=4770',
  'operator.inputs.page={}',
  'operator.inputs.rctp={"armFlags":true}',
  'operator.inputs.leader.port=4774',
  'operator.input=joints',
  'operator.autoArm=true',
];
const STEP_MS = 10;
const PROGRAM = peerOf('127.0.0.1', 50_000);
const HEADSET = peerOf('127.0.0.1', 50_001);
const LEADER = peerOf('127.0.0.1', 50_002);
/** The operator's sockets of these inputs. */
const SOCKET = {
  joints: OPERATOR_SOCKETS.firstInput,
  rctp: OPERATOR_SOCKETS.firstInput + 1,
  leader: OPERATOR_SOCKETS.firstInput + 2,
};
/** Longer than a hand must be visible before it counts, and than the flag must be held. */
const VISIBLE_MS = 340;
const HELD_MS = 560;

/** A person at the page, a hand without a clutch (RCTP), a leader arm and a policy on the input `joints`, both driven by the test, on a simulated clock. */
export class TakeOverTrial {
  readonly rig: SimulatedRig;
  /** Commands in the order they were published. */
  readonly commands: { rad: number[]; source: string; intervention: boolean; engagement: number }[] = [];
  readonly #random: () => number;
  readonly #handM = [0, 1.2, -0.3];
  readonly #velocityMS = [0, 0, 0];
  readonly #leaderRad: number[];
  #targetRad: number[];
  #policyClutch = false;
  clutch = false;
  gripper = 0;
  isPersonSending = true;
  /** The hand without a clutch; it moves all the time. */
  isHandVisible = true;
  isArmFlagHeld = false;
  /** Enter was pressed in the leader arm's terminal. */
  isLeaderFollowed = false;
  #leaderHandBacks = 0;

  static async create(seed: number, clutch = false): Promise<TakeOverTrial> {
    const trial = new TakeOverTrial(await SimulatedRig.create({ overrides: OVERRIDES }), seed);
    trial.clutch = clutch;
    trial.run(400);
    return trial;
  }

  private constructor(rig: SimulatedRig, seed: number) {
    this.rig = rig;
    this.#random = xorshift(seed);
    this.#targetRad = [...rig.model.homeRad];
    this.#leaderRad = rig.model.homeRad.map((rad) => rad + 0.6 * (this.#random() - 0.5));
    rig.operator.loop.onCommand(({ positionsRad, source, intervention, engagement }) =>
      this.commands.push({ rad: [...positionsRad], source, intervention, engagement }),
    );
  }

  random(): number {
    return this.#random();
  }

  run(ms: number): void {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      if (this.isPersonSending) this.#sendHand();
      this.#sendRctp();
      this.#sendLeader();
      this.#sendTarget();
      this.rig.runFor(STEP_MS);
    }
  }

  /** As `farhand policy` does it: an open clutch first, the pose as it stands, then its own motion. */
  policyEngages(): void {
    this.policyBegins();
    for (let i = 0; i < 60 && this.rig.state !== 'engaged'; i++) this.run(STEP_MS);
    assert.equal(this.rig.state, 'engaged');
  }

  policyBegins(): void {
    this.#policyClutch = false;
    this.#targetRad = [...this.rig.robot.loop.supervisor.reading.positionsRad];
    this.run(120);
    this.#policyClutch = true;
  }

  policyLetsGo(): void {
    this.#policyClutch = false;
  }

  /** A defect of a program or of a leader's motors: the next pose is anywhere. */
  leap(who: 'policy' | 'leader'): void {
    const rad = who === 'policy' ? this.#targetRad : this.#leaderRad;
    for (let i = 0; i < rad.length; i++) rad[i] = 12 * (this.#random() - 0.5);
  }

  takeOver(): void {
    this.#request({ kind: 'take-over' });
  }

  /** b and Enter in the leader's terminal. */
  leaderHandsBack(): void {
    this.isLeaderFollowed = false;
    this.#leaderHandBacks++;
  }

  handBack(): void {
    this.#request({ kind: 'hand-back' });
  }

  #sendHand(): void {
    for (let k = 0; k < 3; k++) {
      this.#velocityMS[k] = 0.9 * this.#velocityMS[k]! + 0.06 * (this.#random() - 0.5);
      this.#handM[k]! += (this.#velocityMS[k]! * STEP_MS) / 1000;
    }
    const hand = { kind: 'hand', positionM: this.#handM, quatXyzw: [0, 0, 0, 1] };
    this.#request({ ...hand, gripper: this.gripper, clutch: this.clutch });
  }

  #sendRctp(): void {
    const packet = { ...emptyRctp(), gripper: 1, tracking: this.isHandVisible, arm: this.isArmFlagHeld };
    packet.positionM.set(this.#handM);
    packet.timestampS = this.rig.nowNs / 1e9;
    const bytes = new Uint8Array(RCTP_BYTES);
    encodeRctp(packet, bytes);
    this.rig.network.inject(HEADSET, this.rig.operator.peers[SOCKET.rctp]!, bytes);
  }

  #sendLeader(): void {
    this.#leaderRad.forEach((rad, i) => {
      const { minRad, maxRad } = this.rig.model.joints[i]!;
      this.#leaderRad[i] = Math.max(minRad, Math.min(maxRad, rad + 0.004 * (this.#random() - 0.5)));
    });
    const target = { jointsRad: this.#leaderRad, gripper: 0.2, clutch: this.isLeaderFollowed };
    const bytes = new TextEncoder().encode(encodeTarget({ ...target, handBacks: this.#leaderHandBacks }));
    this.rig.network.inject(LEADER, this.rig.operator.peers[SOCKET.leader]!, bytes);
  }

  #sendTarget(): void {
    if (this.#policyClutch && this.rig.state === 'engaged')
      this.#targetRad = this.#targetRad.map((rad, i) => {
        const { minRad, maxRad } = this.rig.model.joints[i]!;
        return Math.max(minRad, Math.min(maxRad, rad + 0.008 * (this.#random() - 0.45)));
      });
    const target = { jointsRad: this.#targetRad, gripper: 0.7, clutch: this.#policyClutch, source: 'policy' };
    const bytes = new TextEncoder().encode(JSON.stringify(target));
    this.rig.network.inject(PROGRAM, this.rig.operator.peers[SOCKET.joints]!, bytes);
  }

  #request(request: { kind: string; [field: string]: unknown }): void {
    const bytes = new Uint8Array(1024);
    const length = writeFrame(request.kind === 'hand' ? 'hand' : 'request', request, bytes);
    const { loop } = this.rig.operator;
    loop.onDatagram(OPERATOR_SOCKETS.desk, bytes, length, 1, this.rig.nowNs, Number.NaN);
  }
}

/** How a person may take over: by a clutch, a leader arm, or without either by a request or the held flag of the headset. */
const TAKE_OVERS = ['clutch', 'leader', 'request', 'arm flag'] as const;
/** Those without a clutch. */
const CLUTCHLESS: readonly string[] = ['request', 'arm flag'];

function takeOver(trial: TakeOverTrial, how: (typeof TAKE_OVERS)[number]): void {
  if (how === 'clutch') trial.clutch = true;
  else if (how === 'leader') trial.isLeaderFollowed = true;
  else if (how === 'request') trial.takeOver();
  else trial.isArmFlagHeld = true;
  if (how !== 'arm flag') return trial.run(2 * STEP_MS);
  for (let ms = 0; ms < HELD_MS && trial.commands.at(-1)?.source !== 'person'; ms += STEP_MS)
    trial.run(STEP_MS);
  trial.isArmFlagHeld = false;
}

/** Random hand-overs; every first command of a person repeats the policy's last one. Returns how many there were. */
export async function handOvers(
  count: number,
  seed: number,
): Promise<{ largestStepRad: number; takeOvers: number }> {
  const trial = await TakeOverTrial.create(seed);
  const { rig } = trial;
  let [largestStepRad, takeOvers] = [0, 0];
  for (let n = 0; n < count; n++) {
    const how = TAKE_OVERS[Math.floor(TAKE_OVERS.length * trial.random())]!;
    trial.isHandVisible = true;
    trial.policyEngages();
    trial.run(60 + 240 * trial.random());
    if (CLUTCHLESS.includes(how)) trial.run(VISIBLE_MS);
    assert.equal(trial.commands.at(-1)!.source, 'policy', 'a visible hand alone does not take over');
    const before = trial.commands.length;
    takeOver(trial, how);
    const first = trial.commands.findIndex(({ source }, i) => i >= before && source === 'person');
    assert.ok(first > 0, `${how}: the person drives`);
    assert.ok(how === 'arm flag' || first - before <= 2, `${how}: the person drives within one tick`);
    const [last, own] = [trial.commands[first - 1]!, trial.commands[first]!];
    assert.equal(last.source, 'policy');
    assert.equal(own.engagement, last.engagement, 'one engagement: nothing is let go in between');
    assert.ok(own.intervention);
    largestStepRad = Math.max(largestStepRad, ...own.rad.map((rad, i) => Math.abs(rad - last.rad[i]!)));
    takeOvers++;
    trial.policyLetsGo();
    trial.run(50 + 250 * trial.random());
    assert.equal(rig.state, 'engaged');
    trial.clutch = trial.isLeaderFollowed = false;
    if (CLUTCHLESS.includes(how)) trial.isHandVisible = false;
    trial.run(150);
    assert.equal(
      rig.state,
      'hold',
      'an open clutch, or a hand that is gone, holds; the policy does not go on',
    );
    if (how === 'leader') trial.leaderHandsBack();
    else trial.handBack();
    trial.commands.length = 0;
  }
  assert.equal(rig.robot.counters.get('limit-breach'), 0);
  return { largestStepRad, takeOvers };
}
