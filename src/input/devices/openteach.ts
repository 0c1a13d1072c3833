import { z } from 'zod';
import type { Reason } from '../../core/counters.ts';
import { hostSetting } from '../../core/host-setting.ts';
import { isLoopback } from '../../core/loopback.ts';
import { checkHand, HAND_NUMBERS, HAND_POINTS, takeHandPoints } from '../../hand/points.ts';
import type { HandSample, SampleStatus } from '../../messages/hand-sample.ts';
import {
  decodeButton,
  decodeHand,
  emptyHandToken,
  encodeHandToken,
  HAND_TOPIC,
  OPENTEACH_PORTS,
} from '../codecs/openteach-codec.ts';
import type { InputDevice, InputPlugin, InputQuality, InputRelay, InputSocket } from '../device.ts';
import { palmQuat, pinchOf } from '../palm.ts';
import { SourceLock } from '../source-lock.ts';
import { StreamMeter } from '../stream-meter.ts';

const port = z.int().min(0).max(65535);
const config = z.strictObject({
  hand: z.enum(['right', 'left']).default('right').describe('the hand that drives this rig'),
  listenHost: hostSetting
    .default('127.0.0.1')
    .describe('address to listen on; a headset needs 0.0.0.0 or this machine’s address'),
  rightPort: port.default(OPENTEACH_PORTS.right).describe('TCP port (ZeroMQ) of the right hand'),
  leftPort: port.default(OPENTEACH_PORTS.left).describe('TCP port (ZeroMQ) of the left hand'),
  buttonPort: port
    .default(OPENTEACH_PORTS.button)
    .describe('TCP port (ZeroMQ) of the resolution button; 0: none'),
  pausePort: port.default(OPENTEACH_PORTS.pause).describe('TCP port (ZeroMQ) of the pause button; 0: none'),
  otherHand: z
    .enum(['drain', 'leave'])
    .default('drain')
    .describe(
      'drain: receive and drop the other hand’s messages too, so that the two-handed app does not stall',
    ),
  topology: z
    .enum(['push', 'pub'])
    .default('push')
    .describe(
      'push: the Quest app, which connects to us; pub: a publisher of hand_coords, as in the ORCA document, or OpenTeach’s detector',
    ),
  publisherHost: z
    .string()
    .default('')
    .describe('topology pub: address of the publisher; empty: it connects to us'),
  pointFrame: z
    .enum(['rh', 'unity'])
    .default('unity')
    .describe(
      'frame of the points: Unity’s left-handed one, as the app sends it, or right-handed, −Z forward',
    ),
  lowScale: z
    .number()
    .min(0.05)
    .max(1)
    .default(0.6)
    .describe('motion scale of an arm while the resolution button is Low'),
  staleAfterMs: z
    .number()
    .min(20)
    .max(1000)
    .default(150)
    .describe('silence after which the hand counts as lost'),
  resumeAfterMs: z
    .number()
    .min(0)
    .max(10_000)
    .default(300)
    .describe('how long the hand must be visible without a break before it drives (again)'),
  handRelayPort: port.default(0).describe('UDP port on this machine that relays points to the loop; 0: any'),
  buttonRelayPort: port.default(0).describe('the same for the resolution button'),
  pauseRelayPort: port.default(0).describe('the same for the pause button'),
});
type Config = z.infer<typeof config>;

const SOCKETS = { hand: 0, button: 1, pause: 2 } as const;
const MAX_REACH_M = 100;
const SMOOTHING = 16;

/**
 * Quest hand tracking from OpenTeach's app. It has no clutch: a visible hand that is not paused counts as a
 * closed one.
 */
class OpenTeachHand implements InputDevice {
  readonly #config: Config;
  readonly #locks = [new SourceLock([]), new SourceLock([]), new SourceLock([])];
  readonly #meter = new StreamMeter();
  readonly #token = emptyHandToken();
  readonly #incomingM = new Float64Array(HAND_NUMBERS);
  readonly #pointsM = new Float64Array(HAND_NUMBERS);
  /** The wrist, without the motion removed by the resolution button. */
  readonly #positionM = new Float64Array(3);
  readonly #quatXyzw = Float64Array.of(0, 0, 0, 1);
  /** OpenTeach's detector, and only on this machine. */
  readonly #takesPickles: boolean;
  #gripper = 0;
  #takenNs = Number.NEGATIVE_INFINITY;
  #seenSinceNs = Number.POSITIVE_INFINITY;
  #periodS = Number.NaN;
  #sentS = 0;
  #scale = 1;
  #paused = false;
  stream = 0;

  constructor(config: Config) {
    this.#config = config;
    this.#takesPickles = config.topology === 'pub' && isLoopback(listensAt(config).host);
  }

  ingest(bytes: Uint8Array, length: number, receivedNs: number, from: number, socket: number): Reason | null {
    if (socket === SOCKETS.hand) return this.#onHand(bytes, length, receivedNs, from);
    const state = decodeButton(bytes, length);
    if (state === null) return length === 0 ? 'empty' : 'malformed';
    const source = this.#locks[socket]?.admit(from, receivedNs) ?? 'rejected';
    if (source === 'rejected') return 'unknown-source';
    if (socket === SOCKETS.pause) this.#paused = state === 'Low';
    else this.#scale = state === 'Low' ? this.#config.lowScale : 1;
    return null;
  }

  #onHand(bytes: Uint8Array, length: number, receivedNs: number, from: number): Reason | null {
    const [token, points] = [this.#token, this.#incomingM];
    const refusal =
      decodeHand(bytes, length, token, this.#takesPickles) ??
      takeHandPoints(token.pointsM, token.count, this.#config.pointFrame, points) ??
      checkHand(points);
    if (refusal !== null) return refusal;
    for (let i = 0; i < HAND_NUMBERS; i++) if (Math.abs(points[i]!) > MAX_REACH_M) return 'bad-range';
    const source = this.#locks[SOCKETS.hand]!.admit(from, receivedNs);
    if (source === 'rejected') return 'unknown-source';
    if (source === 'new') this.#begin();
    this.#take(points, receivedNs);
    return null;
  }

  /** Another sender, or the same after a silence: neither its position nor its pause carries over. */
  #begin(): void {
    this.stream++;
    this.#meter.restart();
    this.#periodS = Number.NaN;
    this.#seenSinceNs = Number.POSITIVE_INFINITY;
    this.#paused = false;
  }

  #take(points: Float64Array, receivedNs: number): void {
    const gapNs = receivedNs - this.#takenNs;
    const broken = !(gapNs <= this.#config.staleAfterMs * 1e6);
    if (broken || this.#seenSinceNs === Number.POSITIVE_INFINITY) {
      this.#seenSinceNs = receivedNs;
      for (let k = 0; k < 3; k++) this.#positionM[k] = points[k]!;
    } else for (let k = 0; k < 3; k++) this.#positionM[k]! += this.#scale * (points[k]! - this.#pointsM[k]!);
    this.#pointsM.set(points);
    palmQuat(points, this.#config.hand === 'left', this.#quatXyzw);
    this.#gripper = pinchOf(points);
    this.#measure(gapNs / 1e9, receivedNs);
    this.#takenNs = Math.max(this.#takenNs, receivedNs);
  }

  /** Tokens carry no time: only their mean period is steady. */
  #measure(gapS: number, receivedNs: number): void {
    this.#sentS = Number.isNaN(this.#periodS) ? receivedNs / 1e9 : this.#sentS + this.#periodS;
    this.#meter.received(receivedNs, this.#sentS);
    if (!Number.isFinite(gapS)) return;
    this.#periodS = Number.isNaN(this.#periodS) ? gapS : this.#periodS + (gapS - this.#periodS) / SMOOTHING;
  }

  sample(nowNs: number, out: HandSample): SampleStatus {
    const { staleAfterMs, resumeAfterMs, hand } = this.#config;
    const fresh = nowNs - this.#takenNs <= staleAfterMs * 1e6;
    out.takenNs = this.#takenNs;
    out.positionM.set(this.#positionM);
    out.quatXyzw.set(this.#quatXyzw);
    out.gripper = this.#gripper;
    out.tracking = fresh;
    out.clutch = fresh && !this.#paused && this.#takenNs - this.#seenSinceNs >= resumeAfterMs * 1e6;
    out.estop = false;
    out.points = HAND_POINTS;
    out.pointsM.set(this.#pointsM);
    out.isLeft = hand === 'left';
    if (fresh) return 'ok';
    out.points = 0;
    return this.#takenNs === Number.NEGATIVE_INFINITY ? 'none' : 'stale';
  }

  quality(nowNs: number, out: InputQuality): void {
    this.#meter.read(nowNs, out);
    out.from = this.#locks[SOCKETS.hand]!.holder(nowNs);
  }
}

const key = (name: string): string => `operator.inputs.openteach.${name}`;

function sockets(options: Config): InputSocket[] {
  const { handRelayPort, buttonRelayPort, pauseRelayPort } = options;
  const socket = (name: string, port: number): InputSocket => ({
    name: `openteach ${name} relay`,
    host: '127.0.0.1',
    port,
    portKey: key(`${name}RelayPort`),
  });
  return [socket('hand', handRelayPort), socket('button', buttonRelayPort), socket('pause', pauseRelayPort)];
}

/** JSON with all its digits may be longer than a datagram; a token with seven is not. */
function shorten(bytes: Uint8Array): Uint8Array | null {
  const token = emptyHandToken();
  if (decodeHand(bytes, bytes.length, token) !== null) return null;
  return new TextEncoder().encode(encodeHandToken(token.mode, token.count, token.pointsM));
}

/** Where the hand's socket binds or connects. */
function listensAt({ topology, publisherHost, listenHost }: Config): { bind: boolean; host: string } {
  const bind = topology === 'push' || publisherHost === '';
  return { bind, host: bind ? listenHost : publisherHost };
}

function relays(options: Config): InputRelay[] {
  const { hand, otherHand, topology, buttonPort, pausePort } = options;
  const isPub = topology === 'pub';
  const { bind, host } = listensAt(options);
  const handRelay = (side: 'right' | 'left'): InputRelay => ({
    name: `openteach ${side} hand`,
    socket: side === hand ? SOCKETS.hand : null,
    pattern: isPub ? 'sub' : 'pull',
    topic: HAND_TOPIC,
    bind,
    host,
    port: options[`${side}Port`],
    portKey: key(`${side}Port`),
    shorten,
  });
  const found = [handRelay(hand)];
  if (isPub) return found;
  if (otherHand === 'drain') found.push(handRelay(hand === 'right' ? 'left' : 'right'));
  const buttons = { button: buttonPort, pause: pausePort } as const;
  for (const name of ['button', 'pause'] as const)
    if (buttons[name] !== 0)
      found.push({
        ...handRelay(hand),
        name: `openteach ${name}`,
        socket: SOCKETS[name],
        port: buttons[name],
        portKey: key(`${name}Port`),
      });
  return found;
}

const plugin: InputPlugin<Config> = {
  about: 'Quest hand tracking by OpenTeach’s app over ZeroMQ (one hand’s points, pause and resolution)',
  automatic: false,
  clutchless: true,
  config,
  sockets,
  relays,
  open: (options) => new OpenTeachHand(options),
};

export default plugin;
