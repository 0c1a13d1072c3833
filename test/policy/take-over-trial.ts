import assert from 'node:assert/strict';
import { OPERATOR_SOCKETS } from '../../src/operator/loop.ts';
import { writeFrame } from '../../src/wire/codecs/frame.ts';
import { peerOf } from '../../src/wire/reactor.ts';
import { SimulatedRig } from '../loops/simulated-rig.ts';
import { xorshift } from '../xorshift.ts';

const OVERRIDES = [
  'operator.inputs.joints.port=4770',
  'operator.inputs.page={}',
  'operator.input=joints',
  'operator.autoArm=true',
];
const STEP_MS = 10;
const PROGRAM = peerOf('127.0.0.1', 50_000);

/** A person at the page and a policy on the input `joints`, both driven by the test, on a simulated clock. */
export class TakeOverTrial {
  readonly rig: SimulatedRig;
  /** Commands in the order they were published. */
  readonly commands: { rad: number[]; source: string; intervention: boolean; engagement: number }[] = [];
  readonly #random: () => number;
  readonly #handM = [0, 1.2, -0.3];
  readonly #velocityMS = [0, 0, 0];
  #targetRad: number[];
  #policyClutch = false;
  clutch = false;
  gripper = 0;
  isPersonSending = true;

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
      this.#sendTarget();
      this.rig.runFor(STEP_MS);
    }
  }

  /** As `farhand policy` does it: an open clutch first, the pose as it stands, then its own motion. */
  policyEngages(): void {
    this.#policyClutch = false;
    this.#targetRad = [...this.rig.robot.loop.supervisor.reading.positionsRad];
    this.run(120);
    this.#policyClutch = true;
    for (let i = 0; i < 60 && this.rig.state !== 'engaged'; i++) this.run(STEP_MS);
    assert.equal(this.rig.state, 'engaged');
  }

  policyLetsGo(): void {
    this.#policyClutch = false;
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

  #sendTarget(): void {
    if (this.#policyClutch && this.rig.state === 'engaged')
      this.#targetRad = this.#targetRad.map((rad, i) => {
        const { minRad, maxRad } = this.rig.model.joints[i]!;
        return Math.max(minRad, Math.min(maxRad, rad + 0.008 * (this.#random() - 0.45)));
      });
    const target = { jointsRad: this.#targetRad, gripper: 0.7, clutch: this.#policyClutch, source: 'policy' };
    const bytes = new TextEncoder().encode(JSON.stringify(target));
    this.rig.network.inject(PROGRAM, this.rig.operator.peers[4]!, bytes);
  }

  #request(request: { kind: string; [field: string]: unknown }): void {
    const bytes = new Uint8Array(1024);
    const length = writeFrame(request.kind === 'hand' ? 'hand' : 'request', request, bytes);
    const { loop } = this.rig.operator;
    loop.onDatagram(OPERATOR_SOCKETS.desk, bytes, length, 1, this.rig.nowNs, Number.NaN);
  }
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
    trial.policyEngages();
    trial.run(60 + 240 * trial.random());
    const before = trial.commands.length;
    trial.clutch = true;
    trial.run(2 * STEP_MS);
    const first = trial.commands.findIndex(({ source }, i) => i >= before && source === 'person');
    assert.ok(first > 0 && first - before <= 2, 'the person drives within one tick');
    const [last, own] = [trial.commands[first - 1]!, trial.commands[first]!];
    assert.equal(last.source, 'policy');
    assert.equal(own.engagement, last.engagement, 'one engagement: nothing is let go in between');
    assert.ok(own.intervention);
    largestStepRad = Math.max(largestStepRad, ...own.rad.map((rad, i) => Math.abs(rad - last.rad[i]!)));
    takeOvers++;
    trial.policyLetsGo();
    trial.run(50 + 250 * trial.random());
    assert.equal(rig.state, 'engaged');
    trial.clutch = false;
    trial.run(150);
    assert.equal(rig.state, 'hold', 'an open clutch holds; the policy does not go on by itself');
    trial.handBack();
    trial.commands.length = 0;
  }
  assert.equal(rig.robot.counters.get('limit-breach'), 0);
  return { largestStepRad, takeOvers };
}
