import { Vector3 } from 'three';
import { emptyXr, encodeXr, XR_MAX_BYTES } from '../../src/input/codecs/webxr-codec.ts';
import { readHands } from './hands.ts';
import type { Room } from './room.ts';
import type { HeadsetStop } from './stop.ts';

export type SessionMode = 'immersive-vr' | 'immersive-ar';

export interface SessionOptions {
  room: Room;
  stop: HeadsetStop;
  followGuesses: boolean;
  send(bytes: Uint8Array<ArrayBuffer>): void;
  /** After the poses of a frame have left. */
  frame(nowMs: number): void;
  ended(): void;
}

const INDEX_TIP = 9;
/** After the wearer's space was moved, poses do not count for a moment: what was engaged must not jump with it. */
const RECENTRED_MS = 150;

/** One stay in the headset: poses leave with every frame, before anything is drawn. */
export class HeadsetSession {
  readonly packet = emptyXr();
  readonly tips = [new Vector3(), new Vector3()];
  readonly #options: SessionOptions;
  readonly #bytes = new Uint8Array(XR_MAX_BYTES);
  #session: XRSession | null = null;
  #recentredMs = Number.NEGATIVE_INFINITY;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  get active(): boolean {
    return this.#session !== null;
  }

  async enter(mode: SessionMode): Promise<void> {
    const { room } = this.#options;
    const session = await navigator.xr!.requestSession(mode, {
      requiredFeatures: ['local-floor'],
      optionalFeatures: ['hand-tracking'],
    });
    this.#session = session;
    session.addEventListener('end', () => this.#end());
    room.showAround(mode === 'immersive-vr');
    await room.renderer.xr.setSession(session);
    room.renderer.xr.getReferenceSpace()?.addEventListener('reset', () => {
      this.#recentredMs = performance.now();
    });
  }

  leave(): void {
    void this.#session?.end();
  }

  /** From the renderer's loop, with the frame of the headset. */
  onFrame(frame: XRFrame): void {
    const { room, stop, send, followGuesses } = this.#options;
    const nowMs = performance.now();
    const space = room.renderer.xr.getReferenceSpace();
    if (space === null) return;
    const { packet } = this;
    packet.takenPageNs = nowMs * 1e6;
    readHands(frame, space, packet, followGuesses);
    packet.visible = frame.session.visibilityState === 'visible' && nowMs - this.#recentredMs > RECENTRED_MS;
    stop.look(packet, nowMs);
    packet.estop = stop.pending;
    packet.seq++;
    packet.sentPageNs = performance.now() * 1e6;
    send(this.#bytes.subarray(0, encodeXr(packet, this.#bytes)));
    this.#options.frame(nowMs);
  }

  /** Fingertips, or the ends of controllers; far away when there are none. */
  findTips(): readonly Vector3[] {
    for (const [i, side] of [this.packet.left, this.packet.right].entries()) {
      const joint = side.kind === 'hand' ? INDEX_TIP : 0;
      const [x = 0, y = 0, z = 0] = side.jointsM.subarray(3 * joint);
      this.tips[i]!.set(x, side.tracked ? y : -100, z);
    }
    return this.tips;
  }

  /** A short buzz, where there is something that can. */
  buzz(strength: number, ms: number): void {
    for (const { gamepad } of this.#session?.inputSources ?? [])
      void gamepad?.hapticActuators?.[0]?.pulse(strength, ms);
  }

  /** The clutch opens with it: the last packet says that nothing is to be seen. */
  #end(): void {
    this.#session = null;
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
