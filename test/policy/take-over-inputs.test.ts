import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadPlugin, pluginNames } from '../../src/app/registry.ts';
import { OPERATOR_SOCKETS } from '../../src/operator/loop.ts';
import { TAG_BYTES, writeTag } from '../../src/wire/codecs/frame.ts';
import { peerOf } from '../../src/wire/reactor.ts';
import { type Grip, type InputSender, sendersOf } from '../contract/input-senders.ts';
import { SimulatedRig } from '../loops/simulated-rig.ts';

const TICK_MS = 10;
const SEND_MS = 20;
const PROGRAM = peerOf('127.0.0.1', 50_000);
const PERSON = peerOf('127.0.0.1', 50_001);
/** A message, the tick that sees it, and one for the order of the two within a step. */
const PROMPT_COMMANDS = SEND_MS / TICK_MS + 2;
const SPEED_RAD_S = 0.3;
/** No hand, only switches. */
const NO_HANDS = ['pedal'];

/** A policy that drives, and the bytes of one device beside it, in simulated time. */
class Scene {
  readonly grip: Grip = { closed: false, seen: true, clutchSeen: true, sender: 1 };
  readonly commands: { rad: number[]; source: string; intervention: boolean; engagement: number }[] = [];
  readonly rig: SimulatedRig;
  readonly #sender: InputSender;
  #count = 0;
  #targetRad: number[];
  policyClutch = false;
  isSending = true;

  constructor(rig: SimulatedRig, sender: InputSender) {
    this.rig = rig;
    this.#sender = sender;
    this.#targetRad = [...rig.model.homeRad];
    rig.operator.loop.onCommand(({ positionsRad, source, intervention, engagement }) =>
      this.commands.push({ rad: [...positionsRad], source, intervention, engagement }),
    );
  }

  run(ms: number): void {
    for (let passed = 0; passed < ms; passed += TICK_MS) {
      this.#count++;
      if (this.isSending && (this.#count * TICK_MS) % SEND_MS === 0) this.#sendDevice();
      this.#sendTarget();
      this.rig.runFor(TICK_MS);
    }
  }

  engagePolicy(): void {
    this.policyClutch = false;
    this.#targetRad = [...this.rig.robot.loop.supervisor.reading.positionsRad];
    this.run(400);
    this.policyClutch = true;
    this.run(400);
    assert.equal(this.rig.state, 'engaged');
    assert.equal(this.commands.at(-1)!.source, 'policy');
  }

  #sendTarget(): void {
    if (this.rig.state === 'engaged') this.#targetRad[0]! += (SPEED_RAD_S * TICK_MS) / 1000;
    const target = {
      jointsRad: this.#targetRad,
      gripper: 0.7,
      clutch: this.policyClutch,
      source: 'policy',
    };
    const bytes = new TextEncoder().encode(JSON.stringify(target));
    this.rig.network.inject(PROGRAM, this.rig.operator.peers[OPERATOR_SOCKETS.firstInput]!, bytes);
  }

  #sendDevice(): void {
    const { rig } = this;
    const { via } = this.#sender;
    const bytes = this.#sender.message(rig.nowNs, this.#count, this.grip);
    if (via === 'socket') {
      rig.network.inject(PERSON, rig.operator.peers[OPERATOR_SOCKETS.firstInput + 1]!, bytes);
      return;
    }
    const datagram = new Uint8Array(TAG_BYTES + bytes.length);
    datagram.set(bytes, writeTag(via, datagram));
    const { desk } = OPERATOR_SOCKETS;
    rig.operator.loop.onDatagram(desk, datagram, datagram.length, PERSON, rig.nowNs, Number.NaN);
  }
}

async function sceneOf(name: string, sender: InputSender): Promise<Scene> {
  const values = JSON.stringify({ joints: {}, [name]: sender.options ?? {} });
  const overrides = [`operator.inputs=${values}`, 'operator.input=joints', 'operator.autoArm=true'];
  return new Scene(await SimulatedRig.create({ overrides }), sender);
}

describe('taking over from a policy by the bytes of a device', () => {
  for (const name of pluginNames('input')) {
    const sender = sendersOf(name)[0]?.[1];
    if (!sender || name === 'joints' || NO_HANDS.includes(name)) continue;
    it(`${name}: within one tick and without a step; letting go holds; handing back lets the policy drive`, async () => {
      const { clutchless = false } = await loadPlugin('input', name);
      const scene = await sceneOf(name, sender);
      const { rig, grip, commands } = scene;
      scene.engagePolicy();
      const before = commands.length;
      if (clutchless) rig.request({ kind: 'take-over' });
      else grip.closed = true;
      scene.run(60);
      const first = commands.findIndex(({ source }, i) => i >= before && source === 'person');
      assert.ok(first > 0 && first - before <= PROMPT_COMMANDS, `command ${first - before}`);
      const [last, own] = [commands[first - 1]!, commands[first]!];
      assert.deepEqual([last.source, own.rad], ['policy', last.rad]);
      assert.deepEqual([own.intervention, own.engagement], [true, last.engagement]);
      scene.run(300);
      assert.equal(rig.state, 'engaged');
      assert.equal(commands.at(-1)!.source, 'person', 'the policy that goes on sending does not drive');
      grip.closed = false;
      if (clutchless) scene.isSending = false;
      scene.run(500);
      assert.equal(rig.state, 'hold');
      scene.isSending = true;
      scene.run(100);
      assert.equal(rig.state, 'hold', 'nobody drives until asked');
      rig.request({ kind: 'hand-back' });
      scene.engagePolicy();
    });
  }
});
