import { z } from 'zod';
import type { Reason } from '../../core/counters.ts';
import { Pinch, pinchGapM } from '../../hand/gestures.ts';
import { checkHand, HAND_NUMBERS, spanM, takeHandPoints } from '../../hand/points.ts';
import { emptyHandSample, type HandSample, type SampleStatus } from '../../messages/hand-sample.ts';
import {
  decodeEnvelope,
  decodeXr,
  emptyXr,
  XR_ENVELOPE_BYTES,
  XR_JOINTS,
  type XrEnvelope,
  type XrSide,
  xrAsksEstop,
} from '../codecs/webxr-codec.ts';
import type { InputDevice, InputPlugin } from '../device.ts';

const config = z.strictObject({
  hand: z.enum(['right', 'left']).default('right').describe('the hand that drives'),
  clutch: z
    .enum(['other', 'own'])
    .default('other')
    .describe(
      'clutch of a tracked hand: a pinch of the other hand, or thumb and middle finger of the hand itself, as two arms need',
    ),
  pose: z
    .enum(['wrist', 'pinch'])
    .default('wrist')
    .describe(
      'point of a tracked hand that an arm follows: the wrist, or the midpoint of thumb and index tip',
    ),
  staleAfterMs: z.number().min(30).max(1000).default(150).describe('age at which the headset counts as lost'),
  pinchM: z
    .number()
    .min(0.005)
    .max(0.05)
    .default(0.02)
    .describe('a pinch closes below this gap between the tips'),
  openM: z.number().min(0.01).max(0.1).default(0.035).describe('and opens above this gap'),
  gripperOpenM: z
    .number()
    .min(0.02)
    .max(0.2)
    .default(0.08)
    .describe('distance at which the gripper is fully open'),
});
type Config = z.infer<typeof config>;

/** Half-pressed triggers and grips count as pressed. */
const PRESSED = 0.5;
const THUMB_TIP = 4;
const INDEX_TIP = 9;
const MIDDLE_TIP = 14;
/** Its bit among a controller's buttons, in the order of WebXR's standard gamepad. */
const RECORD_BUTTON = 1 << 4;
/** A press on either thumbstick. */
const HAND_BACK_BUTTON = 1 << 3;

/**
 * A headset's page: 25 joints of each hand, or controllers. The driving hand's pinch, or trigger, closes the gripper;
 * the clutch is the other hand's pinch, or the grip button of the driving controller. With `clutch: own`, each hand has
 * its own clutch and buttons, so that two of these inputs can share one headset.
 */
class HeadsetHand implements InputDevice {
  readonly #config: Config;
  readonly #packet = emptyXr();
  readonly #envelope: XrEnvelope = { takenNs: 0, sentNs: 0, stream: 0 };
  readonly #clutch: Pinch;
  readonly #newest: HandSample = emptyHandSample();
  readonly #pointsM = new Float64Array(HAND_NUMBERS);
  readonly #body = new Uint8Array(1472);
  #seq = -1;
  /** Was open since the last sample: a release undone before the next tick still counts. */
  #opened = false;
  /** Who sends the hands: a console, and its term of control. */
  #from = Number.NaN;
  #term = 0;
  stream = 0;
  estop = false;
  recordPresses = 0;
  #recordPressed = false;
  handBackPresses = 0;
  #handBackPressed = false;

  constructor(config: Config) {
    this.#config = config;
    this.#clutch = new Pinch(config.pinchM, config.openM);
    this.#clutch.closed = true;
    this.#newest.takenNs = Number.NEGATIVE_INFINITY;
    this.#newest.isLeft = config.hand === 'left';
  }

  ingest(bytes: Uint8Array, length: number, receivedNs: number, from: number): Reason | null {
    this.estop = false;
    const bodyLength = length - XR_ENVELOPE_BYTES;
    if (bodyLength > this.#body.length) return 'oversize';
    if (decodeEnvelope(bytes, length, this.#envelope) !== null) return 'short';
    for (let i = 0; i < bodyLength; i++) this.#body[i] = bytes[XR_ENVELOPE_BYTES + i]!;
    this.estop = xrAsksEstop(this.#body, bodyLength);
    const refusal = decodeXr(this.#body, bodyLength, this.#packet);
    if (refusal !== null) return refusal;
    const isSame = from === this.#from && this.#envelope.stream === this.#term;
    if (isSame && this.#packet.seq <= this.#seq) return 'dropped-stale';
    if (receivedNs - this.#envelope.takenNs > this.#config.staleAfterMs * 1e6) return 'too-old';
    const side = this.#packet[this.#config.hand];
    const points = this.#takePoints(side);
    if (points !== null) return points;
    if (!isSame) this.#begin(from);
    this.#seq = this.#packet.seq;
    this.#countPresses();
    this.#take(side, receivedNs);
    return null;
  }

  /** A or X on either controller starts and stops a recording; a thumbstick hands back to a policy. */
  #countPresses(): void {
    const { left, right } = this.#packet;
    const { hand, clutch } = this.#config;
    const buttons = clutch === 'own' ? this.#packet[hand].buttons : left.buttons | right.buttons;
    const isDown = (buttons & RECORD_BUTTON) !== 0;
    if (isDown && !this.#recordPressed) this.recordPresses++;
    this.#recordPressed = isDown;
    const handsBack = (buttons & HAND_BACK_BUTTON) !== 0;
    if (handsBack && !this.#handBackPressed) this.handBackPresses++;
    this.#handBackPressed = handsBack;
  }

  sample(nowNs: number, out: HandSample): SampleStatus {
    const newest = this.#newest;
    const fresh = nowNs - newest.takenNs <= this.#config.staleAfterMs * 1e6;
    out.takenNs = newest.takenNs;
    out.sentNs = newest.sentNs;
    out.positionM.set(newest.positionM);
    out.quatXyzw.set(newest.quatXyzw);
    out.gripper = newest.gripper;
    out.tracking = fresh && newest.tracking;
    out.clutch = fresh && newest.clutch && !this.#opened;
    this.#opened = false;
    out.estop = fresh && newest.estop;
    out.points = newest.points;
    out.pointsM.set(newest.pointsM);
    out.isLeft = newest.isLeft;
    return fresh ? 'ok' : newest.takenNs === Number.NEGATIVE_INFINITY ? 'none' : 'stale';
  }

  /** Someone else's hand, or a restarted page: unrelated to earlier packets. */
  #begin(from: number): void {
    this.#from = from;
    this.#term = this.#envelope.stream;
    this.stream++;
    this.#clutch.closed = true;
  }

  /** The driving hand's points, checked before anything is changed. */
  #takePoints(side: XrSide): Reason | null {
    if (side.kind !== 'hand' || !side.tracked) return null;
    return takeHandPoints(side.jointsM, XR_JOINTS, 'rh', this.#pointsM) ?? checkHand(this.#pointsM);
  }

  #take(side: XrSide, receivedNs: number): void {
    const newest = this.#newest;
    const { takenNs, sentNs } = this.#envelope;
    // Unknown, or later than its arrival by the error of the clock relation: then use the arrival.
    newest.takenNs = Number.isNaN(takenNs) ? receivedNs : Math.min(takenNs, receivedNs);
    newest.sentNs = sentNs >= takenNs ? Math.min(sentNs, receivedNs) : Number.NaN;
    newest.estop = this.#packet.estop;
    const other = this.#config.hand === 'right' ? this.#packet.left : this.#packet.right;
    const isSeen = this.#packet.visible && side.tracked;
    newest.tracking = isSeen && (this.#config.clutch === 'own' || isClutchSeen(side, other));
    newest.clutch = this.#clutchOf(side, other);
    if (!newest.clutch) this.#opened = true;
    newest.points = isSeen && side.kind === 'hand' ? this.#pointsM.length / 3 : 0;
    if (!isSeen) return;
    if (newest.points > 0) newest.pointsM.set(this.#pointsM);
    this.#place(side);
    newest.gripper = side.kind === 'hand' ? this.#closing(pinchGapM(side.jointsM)) : side.trigger;
  }

  #place({ kind, jointsM, jointQuats }: XrSide): void {
    const { positionM, quatXyzw } = this.#newest;
    const between = kind === 'hand' && this.#config.pose === 'pinch';
    for (let i = 0; i < 3; i++)
      positionM[i] = between ? (jointsM[3 * THUMB_TIP + i]! + jointsM[3 * INDEX_TIP + i]!) / 2 : jointsM[i]!;
    for (let i = 0; i < 4; i++) quatXyzw[i] = jointQuats[i]!;
  }

  /** An invisible pinch counts for neither; once visible again it stays closed until it is wide open. */
  #clutchOf(side: XrSide, other: XrSide): boolean {
    if (this.#config.clutch === 'own') return this.#ownClutch(side);
    const isPinchSeen = other.kind === 'hand' && other.tracked;
    const pinched = isPinchSeen && this.#clutch.update(pinchGapM(other.jointsM));
    if (!isPinchSeen) this.#clutch.closed = true;
    if (side.kind === 'controller') return side.grip > PRESSED;
    return pinched || (other.kind === 'controller' && Math.max(other.grip, other.trigger) > PRESSED);
  }

  #ownClutch(side: XrSide): boolean {
    if (side.kind === 'controller') return side.grip > PRESSED;
    const isSeen = side.kind === 'hand' && side.tracked;
    if (!isSeen) this.#clutch.closed = true;
    return isSeen && this.#clutch.update(spanM(side.jointsM, THUMB_TIP, MIDDLE_TIP));
  }

  #closing(gapM: number): number {
    const { pinchM, gripperOpenM } = this.#config;
    return Math.max(0, Math.min(1, (gripperOpenM - gapM) / Math.max(1e-3, gripperOpenM - pinchM)));
  }
}

/** The driving controller's own grip, the other controller, or the other hand if visible. */
const isClutchSeen = (side: XrSide, other: XrSide): boolean =>
  side.kind === 'controller' || other.kind === 'controller' || (other.kind === 'hand' && other.tracked);

const plugin: InputPlugin<Config> = {
  about: 'hands or controllers of a headset that opened the console’s /vr page',
  automatic: false,
  desk: 'hands',
  config,
  open: (options) => new HeadsetHand(options),
};

export default plugin;
