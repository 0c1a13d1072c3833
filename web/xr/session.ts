import { Vector3 } from 'three';
import { emptyXr, encodeXr, XR_MAX_BYTES } from '../../src/input/codecs/webxr-codec.ts';
import type { Grabber } from './camera-wall.ts';
import { readHands } from './hands.ts';
import { Fingers, isPhone, readPhone } from './phone.ts';
import type { Room } from './room.ts';
import type { HeadsetStop } from './stop.ts';

export type SessionMode = 'immersive-vr' | 'immersive-ar';

export interface SessionOptions {
  room: Room;
  stop: HeadsetStop;
  followGuesses: boolean;
  /** Shown over the camera of a phone, where it takes touches. */
  overlay: HTMLElement;
  send(bytes: Uint8Array<ArrayBuffer>): void;
  /** Called after the poses of a frame were sent. */
  frame(nowMs: number): void;
  entered(session: XRSession): void;
  ended(): void;
}

const INDEX_TIP = 9;
const THUMB_TIP = 4;
/** Thumb and index closer than this pinch. */
const PINCH_M = 0.025;
const HALF_PRESSED = 0.5;
/** Poses are invalid for this long after a recentre, so the robot does not follow the jump. */
const RECENTRED_MS = 150;

/** An XR session. Sends the poses of each frame before drawing it. */
export class HeadsetSession {
  readonly packet = emptyXr();
  readonly tips = [new Vector3(), new Vector3()];
  readonly #grabbers: Grabber[] = [0, 1].map(() => ({ at: new Vector3(), pinches: false }));
  readonly #options: SessionOptions;
  readonly #bytes = new Uint8Array(XR_MAX_BYTES);
  readonly #fingers: Fingers;
  #session: XRSession | null = null;
  #isPhone = false;
  #recentredMs = Number.NEGATIVE_INFINITY;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#fingers = new Fingers(options.overlay);
  }

  /** The session is on a phone's screen. */
  get onPhone(): boolean {
    return this.#session !== null && this.#isPhone;
  }

  get active(): boolean {
    return this.#session !== null;
  }

  async enter(mode: SessionMode): Promise<void> {
    const { room } = this.#options;
    const session = await navigator.xr!.requestSession(mode, {
      requiredFeatures: ['local-floor'],
      optionalFeatures: ['hand-tracking', 'layers', ...(mode === 'immersive-ar' ? ['dom-overlay'] : [])],
      ...(mode === 'immersive-ar' && { domOverlay: { root: this.#options.overlay } }),
    });
    this.#session = session;
    this.#isPhone = isPhone(session);
    this.#fingers.clear();
    this.#options.overlay.classList.toggle('phone', this.#isPhone);
    session.addEventListener('end', () => this.#end());
    room.showAround(mode === 'immersive-vr');
    await room.renderer.xr.setSession(session);
    room.renderer.xr.getReferenceSpace()?.addEventListener('reset', () => {
      this.#recentredMs = performance.now();
    });
    this.#options.entered(session);
  }

  end(): void {
    void this.#session?.end();
  }

  /** Called from the render loop with the XR frame. */
  onFrame(frame: XRFrame): void {
    const { room, stop, send, followGuesses } = this.#options;
    const nowMs = performance.now();
    const space = room.renderer.xr.getReferenceSpace();
    if (space === null) return;
    const { packet } = this;
    packet.takenPageNs = nowMs * 1e6;
    if (this.#isPhone) readPhone(frame, space, packet, this.#fingers, followGuesses);
    else readHands(frame, space, packet, followGuesses);
    packet.visible = frame.session.visibilityState === 'visible' && nowMs - this.#recentredMs > RECENTRED_MS;
    stop.checkGestures(packet, nowMs);
    packet.estop = stop.pending;
    packet.seq++;
    packet.sentPageNs = performance.now() * 1e6;
    send(this.#bytes.subarray(0, encodeXr(packet, this.#bytes)));
    this.#options.frame(nowMs);
  }

  /** Index fingertips or controller positions; far away when not tracked. */
  findTips(): readonly Vector3[] {
    for (const [i, side] of [this.packet.left, this.packet.right].entries()) {
      const joint = side.kind === 'hand' ? INDEX_TIP : 0;
      const [x = 0, y = 0, z = 0] = side.jointsM.subarray(3 * joint);
      this.tips[i]!.set(x, side.tracked ? y : -100, z);
    }
    return this.tips;
  }

  /** Where each hand would grab, and whether it pinches or presses its trigger now. */
  findGrabbers(): readonly Grabber[] {
    const { left, right } = this.packet;
    for (const [i, side] of [left, right].entries()) {
      const grabber = this.#grabbers[i]!;
      const [x = 0, y = 0, z = 0] = side.jointsM.subarray(3 * (side.kind === 'hand' ? THUMB_TIP : 0));
      grabber.at.set(x, y, z);
      const pinches =
        side.kind === 'hand' ? grabber.at.distanceTo(this.tips[i]!) < PINCH_M : side.trigger > HALF_PRESSED;
      grabber.pinches = side.tracked && pinches;
    }
    return this.#grabbers;
  }

  /** A short vibration, on controllers that support it; a running one is replaced. False if none does. */
  buzz(strength: number, ms: number): boolean {
    let felt = false;
    for (const { gamepad } of this.#session?.inputSources ?? []) {
      const actuator = gamepad?.hapticActuators?.[0];
      void actuator?.pulse(strength, ms);
      felt ||= actuator !== undefined;
    }
    return felt;
  }

  /** Opens the clutch: the last packet reports no tracked hands. */
  #end(): void {
    this.#session = null;
    this.#options.overlay.classList.remove('phone');
    const { packet } = this;
    packet.visible = packet.estop = false;
    packet.left.kind = packet.right.kind = 'none';
    packet.left.tracked = packet.right.tracked = false;
    packet.seq++;
    packet.takenPageNs = packet.sentPageNs = performance.now() * 1e6;
    this.#options.send(this.#bytes.subarray(0, encodeXr(packet, this.#bytes)));
    this.#options.room.showAround(true);
    this.#options.ended();
  }
}
