import type { FrameReceiver, FrameReceiverConfig } from '../camera/channel/frame-receiver.ts';
import { withStamp } from '../camera/jpeg-structure.ts';
import { openFrameReceiver } from '../camera/receiver.ts';
import { monotonicClock } from '../core/time/clock.ts';
import type { ReceivedFrame } from '../messages/recording.ts';
import { CameraLine, NUMBER_BYTES } from './camera-line.ts';

/** How often to check for lost slices. */
const CHECK_MS = 20;

/**
 * Sends the robot's cameras to one operator; receives them on this machine only while the operator wants
 * them.
 */
export class CameraOut {
  readonly #config: FrameReceiverConfig;
  readonly #send: (camera: string, message: Uint8Array) => boolean;
  readonly #lines = new Map<string, CameraLine>();
  readonly #timer: NodeJS.Timeout;
  #receiver: Promise<FrameReceiver | null> | null = null;
  #planned = false;
  #closed = false;

  constructor(config: FrameReceiverConfig, send: (camera: string, message: Uint8Array) => boolean) {
    this.#config = config;
    this.#send = send;
    this.#timer = setInterval(() => this.#pump(), CHECK_MS);
    this.#timer.unref();
  }

  /** Pictures of all cameras that were sent completely, and that were not. */
  get counts(): { sent: number; dropped: number } {
    const lines = [...this.#lines.values()];
    const sum = (of: (line: CameraLine) => number) => lines.reduce((total, line) => total + of(line), 0);
    return { sent: sum((line) => line.sent), dropped: sum((line) => line.dropped) };
  }

  /** Starts or stops sending this camera. */
  want(camera: string, isWanted: boolean): void {
    if (this.#closed) return;
    if (isWanted) this.#lines.set(camera, new CameraLine((message) => this.#send(camera, message)));
    else this.#lines.delete(camera);
    if (this.#lines.size === 0) this.#stop();
    else this.#receiver ??= this.#open();
  }

  /**
   * The operator's acknowledgement on the camera's channel: the number of a received slice. False: not valid.
   */
  receive(camera: string, message: Uint8Array): boolean {
    if (message.length !== NUMBER_BYTES) return false;
    const number = new DataView(message.buffer, message.byteOffset).getUint32(0, true);
    const isAcknowledged = this.#lines.get(camera)?.acknowledged(number, monotonicClock.nowNs()) === true;
    if (isAcknowledged) this.#pump();
    return isAcknowledged;
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    this.#lines.clear();
    this.#stop();
  }

  async #open(): Promise<FrameReceiver | null> {
    try {
      return await openFrameReceiver(this.#config, (frame) => this.#take(frame));
    } catch (error) {
      console.error(`farhand: fleet: no cameras for the operator: ${(error as Error).message}`);
      return null;
    }
  }

  #stop(): void {
    const opening = this.#receiver;
    this.#receiver = null;
    void opening?.then((receiver) => receiver?.close());
  }

  #take({ camera, captureNs, encodedNs, bytes }: ReceivedFrame): void {
    const line = this.#lines.get(camera);
    if (line?.offer(withStamp(bytes, captureNs, encodedNs), monotonicClock.nowNs())) this.#pump();
  }

  #pump(): void {
    if (this.#planned || this.#closed) return;
    const nowNs = monotonicClock.nowNs();
    let more = false;
    for (const line of this.#lines.values()) if (line.pump(nowNs)) more = true;
    if (!more) return;
    this.#planned = true;
    setImmediate(() => {
      this.#planned = false;
      this.#pump();
    });
  }
}
