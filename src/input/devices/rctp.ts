import { z } from 'zod';
import type { Reason } from '../../core/counters.ts';
import { addressSetting, hostSetting } from '../../core/host-setting.ts';
import { emptyHandSample, type HandSample, type SampleStatus } from '../../messages/hand-sample.ts';
import {
  decodeRctp,
  emptyRctp,
  RCTP_LEFT_PORT,
  RCTP_RIGHT_PORT,
  type RctpPacket,
  type RctpRefusal,
} from '../codecs/rctp-codec.ts';
import type { InputDevice, InputPlugin, InputQuality, InputSocket } from '../device.ts';
import { HeldFlag } from '../held-flag.ts';
import { SourceLock } from '../source-lock.ts';
import { StreamMeter } from '../stream-meter.ts';

const port = z.int().min(0).max(65535);
const config = z.strictObject({
  hand: z.enum(['right', 'left']).default('right').describe('the hand that drives this rig'),
  rightPort: port.default(RCTP_RIGHT_PORT).describe('UDP port of the right hand'),
  leftPort: port.default(RCTP_LEFT_PORT).describe('UDP port of the left hand'),
  bothHands: z
    .boolean()
    .default(false)
    .describe('listen on the other hand’s port too: its e-stop counts, its pose does not'),
  listenHost: hostSetting
    .default('127.0.0.1')
    .describe('address to listen on; a headset needs 0.0.0.0 or this machine’s own address'),
  allow: z.array(addressSetting).default([]).describe('addresses that may send; empty: the first to send'),
  vrFrame: z
    .enum(['rh', 'unity'])
    .default('rh')
    .describe('rh: right-handed, −Z forward, as documented; unity: left-handed, +Z forward'),
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
  queueSize: z
    .int()
    .min(1)
    .max(16)
    .default(3)
    .describe('packets that may wait for a tick; beyond that, the oldest is dropped'),
  armFlags: z
    .boolean()
    .default(false)
    .describe('the sender may arm (bit 2 of the flags) and reset (bit 3), each held for half a second'),
});
type Config = z.infer<typeof config>;

const MAX_REACH_M = 100;
const MAX_GRIPPER_ERROR = 0.05;
/** The sender's clock restarts with its program; a smaller step back is one datagram overtaking another. */
const RESTART_S = 1;
const REASON: Record<RctpRefusal, Reason> = {
  short: 'short',
  magic: 'bad-magic',
  'non-finite': 'non-finite',
  'bad-quaternion': 'bad-quaternion',
};

/** A packet that waits for the next tick, and since when the hand has been visible without a break. */
interface Waiting {
  packet: RctpPacket;
  receivedNs: number;
  seenSinceNs: number;
}

const emptyWaiting = (): Waiting => ({
  packet: emptyRctp(),
  receivedNs: Number.NEGATIVE_INFINITY,
  seenSinceNs: Number.POSITIVE_INFINITY,
});

/** A headset that sends RCTP. It has no clutch: a hand visible for `resumeAfterMs` counts as a closed one. */
class RctpHand implements InputDevice {
  readonly #config: Config;
  readonly #remark: (reason: Reason) => void;
  readonly #locks: SourceLock[];
  readonly #meter = new StreamMeter();
  readonly #queue: Waiting[];
  readonly #newest: HandSample = emptyHandSample();
  #packet = emptyRctp();
  #waiting = 0;
  #head = 0;
  #receivedNs = Number.NEGATIVE_INFINITY;
  #receivedS = Number.NaN;
  #seenSinceNs = Number.POSITIVE_INFINITY;
  readonly #arm = new HeldFlag();
  readonly #reset = new HeldFlag();
  stream = 0;
  estop = false;

  constructor(config: Config, remark: (reason: Reason) => void) {
    this.#config = config;
    this.#remark = remark;
    this.#locks = [new SourceLock(config.allow), new SourceLock(config.allow)];
    this.#queue = Array.from({ length: config.queueSize }, emptyWaiting);
    this.#newest.takenNs = Number.NEGATIVE_INFINITY;
  }

  ingest(bytes: Uint8Array, length: number, receivedNs: number, from: number, socket: number): Reason | null {
    this.estop = false;
    const packet = this.#packet;
    const refusal = decodeRctp(bytes, length, packet);
    if (refusal === 'short' || refusal === 'magic') return length === 0 ? 'empty' : REASON[refusal];
    const lock = this.#locks[socket];
    const source = lock?.admit(from, receivedNs) ?? 'rejected';
    if (source === 'rejected') {
      // Another program on the same headset may stop the robot, and do nothing else.
      this.estop = packet.estop && lock?.isHolderMachine(from, receivedNs) === true;
      return 'unknown-source';
    }
    // First, before any check can reject it.
    this.estop = packet.estop;
    if (socket !== 0) return refusal === null ? null : REASON[refusal];
    if (source === 'new') this.#begin();
    return this.#reject(packet, refusal) ?? this.#take(packet, receivedNs);
  }

  /** Another sender, or the same after a restart: nothing in it is related to what came before. */
  #begin(): void {
    this.stream++;
    this.#meter.restart();
    this.#receivedS = Number.NaN;
    this.#seenSinceNs = Number.POSITIVE_INFINITY;
    this.#arm.release();
    this.#reset.release();
  }

  get armPresses(): number {
    return this.#arm.presses;
  }

  get resetPresses(): number {
    return this.#reset.presses;
  }

  #reject(packet: RctpPacket, refusal: RctpRefusal | null): Reason | null {
    if (!Number.isFinite(packet.timestampS)) return 'non-finite';
    const fallS = this.#receivedS - packet.timestampS;
    if (fallS === 0) return 'duplicate';
    if (fallS > 0 && fallS <= RESTART_S) return 'dropped-stale';
    // A hand that is not visible has no pose: senders fill in arbitrary values.
    if (!packet.tracking) return null;
    if (refusal !== null) return REASON[refusal];
    for (let i = 0; i < 3; i++) if (Math.abs(packet.positionM[i]!) > MAX_REACH_M) return 'bad-range';
    return Math.abs(packet.gripper - 0.5) > 0.5 + MAX_GRIPPER_ERROR ? 'bad-range' : null;
  }

  #take(packet: RctpPacket, receivedNs: number): null {
    if (this.#receivedS - packet.timestampS > RESTART_S) this.#begin();
    const broken = receivedNs - this.#receivedNs > this.#config.staleAfterMs * 1e6;
    if (!packet.tracking) this.#seenSinceNs = Number.POSITIVE_INFINITY;
    else if (broken || this.#seenSinceNs === Number.POSITIVE_INFINITY) this.#seenSinceNs = receivedNs;
    if (this.#config.armFlags) {
      const counts = !packet.estop && !broken;
      this.#arm.take(counts && packet.arm && packet.tracking, receivedNs);
      this.#reset.take(counts && packet.reset, receivedNs);
    }
    this.#receivedNs = receivedNs;
    this.#receivedS = packet.timestampS;
    this.#meter.received(receivedNs, packet.timestampS);
    this.#push(packet, receivedNs);
    return null;
  }

  #push(packet: RctpPacket, receivedNs: number): void {
    const queue = this.#queue;
    if (this.#waiting === queue.length) {
      this.#head = (this.#head + 1) % queue.length;
      this.#waiting--;
      this.#remark('dropped-queue-full');
    }
    const slot = queue[(this.#head + this.#waiting) % queue.length]!;
    // The slot's old packet is the next decode buffer.
    this.#packet = slot.packet;
    slot.packet = packet;
    slot.receivedNs = receivedNs;
    slot.seenSinceNs = this.#seenSinceNs;
    this.#waiting++;
  }

  sample(nowNs: number, out: HandSample): SampleStatus {
    this.#drain();
    const newest = this.#newest;
    const { staleAfterMs } = this.#config;
    const fresh = nowNs - newest.takenNs <= staleAfterMs * 1e6;
    out.takenNs = newest.takenNs;
    out.positionM.set(newest.positionM);
    out.quatXyzw.set(newest.quatXyzw);
    out.gripper = newest.gripper;
    out.tracking = fresh && newest.tracking;
    out.clutch = fresh && newest.clutch;
    out.estop = fresh && newest.estop;
    return fresh ? 'ok' : newest.takenNs === Number.NEGATIVE_INFINITY ? 'none' : 'stale';
  }

  /** The newest waiting packet wins. */
  #drain(): void {
    if (this.#waiting === 0) return;
    const queue = this.#queue;
    const last = queue[(this.#head + this.#waiting - 1) % queue.length]!;
    this.#head = 0;
    this.#waiting = 0;
    const { packet, receivedNs, seenSinceNs } = last;
    const newest = this.#newest;
    newest.takenNs = receivedNs;
    newest.tracking = packet.tracking;
    newest.estop = packet.estop;
    newest.clutch = packet.tracking && receivedNs - seenSinceNs >= this.#config.resumeAfterMs * 1e6;
    if (packet.tracking) toHand(packet, this.#config.vrFrame === 'unity', newest);
  }

  quality(nowNs: number, out: InputQuality): void {
    this.#meter.read(nowNs, out);
    out.from = this.#locks[0]!.holder(nowNs);
  }
}

/** Converts to our frame (right-handed, Y up, −Z forward) and our gripper (1 is closed). */
function toHand(packet: RctpPacket, unity: boolean, out: HandSample): void {
  const { positionM, quatXyzw } = packet;
  const flip = unity ? -1 : 1;
  out.positionM[0] = positionM[0]!;
  out.positionM[1] = positionM[1]!;
  out.positionM[2] = flip * positionM[2]!;
  const norm = Math.hypot(quatXyzw[0]!, quatXyzw[1]!, quatXyzw[2]!, quatXyzw[3]!);
  out.quatXyzw[0] = (flip * quatXyzw[0]!) / norm;
  out.quatXyzw[1] = (flip * quatXyzw[1]!) / norm;
  out.quatXyzw[2] = quatXyzw[2]! / norm;
  out.quatXyzw[3] = quatXyzw[3]! / norm;
  out.gripper = 1 - Math.min(1, Math.max(0, packet.gripper));
}

function sockets(options: Config): InputSocket[] {
  const { hand, bothHands, listenHost: host } = options;
  const right = { name: 'rctp right', host, port: options.rightPort, portKey: portKey('right') };
  const left = { name: 'rctp left', host, port: options.leftPort, portKey: portKey('left') };
  // The hand that drives comes first.
  const both = hand === 'right' ? [right, left] : [left, right];
  return bothHands ? both : both.slice(0, 1);
}

const portKey = (hand: string): string => `operator.inputs.rctp.${hand}Port`;

const plugin: InputPlugin<Config> = {
  about: 'a headset that sends RCTP over UDP (one hand per port, no clutch)',
  automatic: false,
  clutchless: true,
  config,
  sockets,
  open: (options, _nowNs, remark = () => {}) => new RctpHand(options, remark),
};

export default plugin;
