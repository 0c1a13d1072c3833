import assert from 'node:assert/strict';
import { OPERATOR_SOCKETS } from '../../src/operator/loop.ts';
import type { WorldPort } from '../../src/robot/driver.ts';
import { decodeCommand, emptyCommand } from '../../src/wire/codecs/command.ts';
import { frameType, TAG_BYTES, writeTag } from '../../src/wire/codecs/frame.ts';
import { peerOf } from '../../src/wire/reactor.ts';
import { MS, OPERATOR_HOST, SimulatedRig } from '../loops/simulated-rig.ts';
import type { Grip, InputSender } from './input-senders.ts';

const TICK_MS = 10;
const SEND_MS = 20;
const INPUT_SOCKET = OPERATOR_SOCKETS.firstInput;
/** An operator without a robot state for this long has lost the robot. */
const STATE_MS = 200;
/** After this silence, the next sender on a socket counts as another. */
const OTHER_MS = 1000;

/** Things that never move, for the expert, which moves only where there is a task. */
const STILL_WORLD: WorldPort = {
  read(out) {
    out.bodies = 4;
    out.poses.set([0.3, 0.17, 0, 1, 0, 0, 0, 0.3, -0.1, 0.02, 1, 0, 0, 0]);
    out.outcome = 'running';
    return 'sort';
  },
  request() {},
};

const UNPOWERED: readonly string[] = ['idle', 'stopped', 'disconnected'];

/** When something happened last, in simulated time; −∞: never. */
type Instants = Record<
  | 'open'
  | 'unseen'
  | 'silence'
  | 'other'
  | 'otherUnready'
  | 'ended'
  | 'cut'
  | 'held'
  | 'homed'
  | 'armed'
  | 'resumed'
  | 'switched',
  number
>;

/**
 * Operator and robot in simulated time, with one input's real bytes. Keeps its own record of what the person and the
 * network did, and checks every start of an engagement against it, on both sides.
 */
export class ClutchWorld {
  readonly rig: SimulatedRig;
  readonly grip: Grip = { closed: false, seen: true, clutchSeen: true, sender: 1 };
  readonly #name: string;
  readonly #sender: InputSender | null;
  readonly #at: Instants = {
    open: -1e18,
    unseen: -1e18,
    silence: -1e18,
    other: -1e18,
    /** Another sender while the robot was not armed and waiting for one. */
    otherUnready: -1e18,
    ended: -1e18,
    cut: -1e18,
    held: -1e18,
    homed: -1e18,
    armed: -1e18,
    resumed: -1e18,
    switched: -1e18,
  };
  readonly #begun: number[] = [];
  readonly #engagementOf = new Map<number, number>();
  silent = false;
  #count = 0;
  #sentNs = -1e18;
  #sentBy = 1;
  #isOpen = false;
  #isHoming = false;
  #active: string;
  #engagement = 0;
  #cut: 'none' | 'to-operator' | 'to-robot' | 'both' = 'none';
  #stateNs = -1e18;

  private constructor(rig: SimulatedRig, name: string, sender: InputSender | null) {
    this.rig = rig;
    this.#name = name;
    this.#active = name;
    this.#sender = sender;
    rig.onOperatorSend = (_socket, bytes) => this.#onSend(bytes);
    rig.impair = (from, to) => this.#impair(from, to);
  }

  static async create(name: string, sender: InputSender | null): Promise<ClutchWorld> {
    const listed = ['scripted', 'page', 'webxr'].includes(name) ? [] : [`operator.inputs.${name}={}`];
    const options = Object.entries(sender?.options ?? {}).map(
      ([key, value]) => `operator.inputs.${name}.${key}=${String(value)}`,
    );
    return new ClutchWorld(
      await SimulatedRig.create({
        overrides: [`operator.input=${name}`, ...listed, ...options],
        wrapDriver: (arm) => Object.assign(arm, { world: STILL_WORLD }),
      }),
      name,
      sender,
    );
  }

  get beginnings(): number {
    return this.#begun.length;
  }

  get isEngaged(): boolean {
    return this.rig.state === 'engaged';
  }

  /** Advances time; the sender sends unless it is silent. */
  run(ms: number): void {
    for (let passed = 0; passed < ms; passed += TICK_MS) {
      if (!this.silent && this.rig.nowNs - this.#sentNs >= SEND_MS * MS) this.#send();
      this.rig.runFor(Math.min(TICK_MS, ms - passed));
      this.#checkRobot();
    }
  }

  silence(ms: number): void {
    this.silent = true;
    this.run(ms);
    this.silent = false;
  }

  cut(which: 'to-operator' | 'to-robot' | 'both', ms: number): void {
    this.#cut = which;
    this.run(ms);
    this.#cut = 'none';
  }

  ask(kind: string): void {
    const nowNs = this.rig.nowNs;
    if (kind === 'hold') this.#at.held = nowNs;
    if (kind === 'home') this.#at.homed = nowNs;
    if (kind === 'arm') this.#at.armed = nowNs;
    if (kind === 'teleop') this.#at.resumed = nowNs;
    this.rig.request({ kind });
  }

  select(name: string): void {
    if (name !== this.#active) this.#at.switched = this.rig.nowNs;
    this.#active = name;
    this.rig.request({ kind: 'input', name });
  }

  back(): void {
    this.select(this.#name);
  }

  #impair(from: number, to: number): number | null {
    const isOperator = (peer: number) => this.rig.operator.peers.includes(peer);
    if (isOperator(from) && ['to-robot', 'both'].includes(this.#cut)) return null;
    if (isOperator(to) && !isOperator(from) && from !== this.#peer) {
      if (['to-operator', 'both'].includes(this.#cut)) return null;
      const nowNs = this.rig.nowNs;
      if (nowNs - this.#stateNs > (STATE_MS + TICK_MS) * MS) this.#at.cut = nowNs;
      this.#stateNs = nowNs;
    }
    return from === this.#peer ? 0 : 2 * MS;
  }

  get #peer(): number {
    return peerOf('10.0.0.9', 50_000 + (this.#sender?.differBy === 'socket' ? this.grip.sender : 1));
  }

  #send(): void {
    const { rig, grip } = this;
    const sender = this.#sender;
    if (sender === null) return;
    const nowNs = rig.nowNs;
    const gapMs = (nowNs - this.#sentNs) / MS;
    if (gapMs > sender.staleMs + TICK_MS) this.#at.silence = nowNs;
    if (gapMs > OTHER_MS || grip.sender !== this.#sentBy) {
      this.#at.other = nowNs;
      if (rig.state !== 'armed') this.#at.otherUnready = nowNs;
    }
    const isSeen = grip.seen && grip.clutchSeen;
    if (!isSeen) this.#at.unseen = nowNs;
    // It counts as seen open until the next message, unless that is from another sender or follows a silence.
    const wasOpen = this.#isOpen && gapMs <= sender.staleMs && grip.sender === this.#sentBy;
    this.#isOpen = isSeen && !grip.closed;
    if (this.#isOpen || (isSeen && wasOpen)) this.#at.open = nowNs;
    this.#sentNs = nowNs;
    this.#sentBy = grip.sender;
    this.#deliver(sender, sender.message(nowNs, ++this.#count, grip));
  }

  #deliver({ via }: InputSender, bytes: Uint8Array): void {
    const { rig } = this;
    if (via === 'socket') {
      rig.network.inject(this.#peer, peerOf(OPERATOR_HOST, portOf(rig.operator.peers[INPUT_SOCKET]!)), bytes);
      return;
    }
    const datagram = new Uint8Array(TAG_BYTES + bytes.length);
    datagram.set(bytes, writeTag(via, datagram));
    rig.operator.loop.onDatagram(
      OPERATOR_SOCKETS.desk,
      datagram,
      datagram.length,
      this.#peer,
      rig.nowNs,
      Number.NaN,
    );
  }

  #onSend(bytes: Uint8Array): void {
    if (frameType(bytes, bytes.length) !== 'command') return;
    const command = emptyCommand(6);
    assert.equal(decodeCommand(bytes, bytes.length, command), null);
    this.#engagementOf.set(command.seq, command.engagement);
    const { engagement } = command;
    if (engagement === this.#engagement) return;
    if (this.#engagement !== 0 && !this.#isHoming) this.#at.ended = this.rig.nowNs - TICK_MS * MS;
    this.#engagement = engagement;
    this.#isHoming = this.rig.operator.loop.mode === 'home';
    if (engagement !== 0 && !this.#isHoming) this.#onBegin(engagement);
  }

  /** Checks the rule, using only what was delivered. */
  #onBegin(engagement: number): void {
    const { rig } = this;
    const at = this.#at;
    this.#begun.push(engagement);
    const last = (to: readonly string[]) =>
      rig.robot.transitions.findLast((transition) => to.includes(transition.to))?.robotNs ?? -1e18;
    const unpoweredNs = last(UNPOWERED);
    const armedNs = last(['armed']);
    // The operator learns of it a moment later; what it sends until then is rejected.
    if (unpoweredNs > armedNs) return;
    if (this.#sender === null || this.#active === 'scripted') return this.#mayGoOn();
    if (isClutchless(this.#name)) return this.#maySee(armedNs);
    const lostNs = Math.max(
      ...[at.ended, at.unseen, at.silence, at.other, at.cut, at.switched, at.held, at.homed],
    );
    assert.ok(at.open >= lostNs, `open ${age(rig, at.open)}, lost ${JSON.stringify(this.#ages())}`);
    assert.ok(at.open >= armedNs, 'seen open after the robot was armed');
  }

  #ages(): Record<string, string> {
    return Object.fromEntries(Object.entries(this.#at).map(([name, ns]) => [name, age(this.rig, ns)]));
  }

  /**
   * Automatic: not between a request to hold and a request to resume or home, a choice of input, or arming.
   */
  #mayGoOn(): void {
    const { held, homed, resumed, switched, armed } = this.#at;
    assert.ok(Math.max(resumed, homed, switched, armed) >= held, 'held by request');
  }

  /** No clutch: since arming, only the input itself may have lost the hand. */
  #maySee(armedNs: number): void {
    const { rig } = this;
    const at = this.#at;
    const watchdogNs =
      rig.robot.transitions.findLast(({ to, cause }) => to === 'hold' && cause.startsWith('no command'))
        ?.robotNs ?? -1e18;
    const switchedNs = rig.state === 'armed' ? -1e18 : at.switched;
    const barredNs = Math.max(at.cut, at.held, at.homed, watchdogNs, at.otherUnready, switchedNs);
    assert.ok(
      Math.max(armedNs, at.resumed) >= barredNs - 50 * MS,
      `armed ${age(rig, armedNs)}, ${JSON.stringify(this.#ages())}`,
    );
  }

  /** The robot follows each of the operator's engagements only once. */
  #checkRobot(): void {
    const { transitions, answers } = this.rig.robot;
    for (; this.#looked < transitions.length; this.#looked++) {
      const { to, robotNs } = transitions[this.#looked]!;
      if (to !== 'engaged') continue;
      const first = answers.find(
        ({ atNs, outcome }) => atNs >= robotNs && (outcome === 'applied' || outcome === 'late'),
      );
      const engagement = this.#engagementOf.get(first!.seq)!;
      assert.ok(engagement > this.#followed, `engagement ${engagement} after ${this.#followed}`);
      this.#followed = engagement;
    }
  }
  #looked = 0;
  #followed = 0;
}

export const isClutchless = (name: string): boolean => name === 'rctp' || name === 'openteach';
const age = (rig: SimulatedRig, ns: number): string => (ns < 0 ? 'never' : `${(rig.nowNs - ns) / MS} ms ago`);
const portOf = (peer: number): number => peer % 65_536;
