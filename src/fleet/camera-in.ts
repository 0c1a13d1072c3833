import type { FrameSender, FrameSenderConfig } from '../camera/channel/frame-sender.ts';
import { openFrameSender } from '../camera/channel/sender.ts';
import { stampsOf } from '../camera/jpeg-structure.ts';
import { SliceAssembler } from '../camera/slice-assembler.ts';
import { Counters } from '../core/counters.ts';
import { monotonicClock } from '../core/time/clock.ts';
import { isAcknowledgementDue, MAX_MESSAGE_BYTES, NUMBER_BYTES } from './camera-line.ts';

/** Longest time a picture may take over a slow network; the robot gives up a little earlier. */
const GIVE_UP_NS = 500e6;

/**
 * The robot's pictures at the operator: assembles them and sends them, with their stamps, over the rig's own
 * camera channel on this machine, so that receivers find them as on a local network.
 */
export class CameraIn {
  readonly names: readonly string[];
  /** What was rejected or given up. */
  readonly counters = new Counters();
  readonly #sender: FrameSender;
  readonly #assemblers = new Map<string, SliceAssembler>();
  readonly #reply = new Uint8Array(NUMBER_BYTES);

  private constructor(names: readonly string[], sender: FrameSender) {
    this.names = names;
    this.#sender = sender;
    this.begin();
  }

  /** Null without cameras, or if their port is in use: driving continues without them. */
  static async open(config: FrameSenderConfig): Promise<CameraIn | null> {
    if (config.cameras.length === 0) return null;
    try {
      return new CameraIn(config.cameras, await openFrameSender(config, () => {}));
    } catch (error) {
      const { message, hint = '' } = error as Error & { hint?: string };
      console.error(`farhand: fleet: no pictures from the robot: ${message}\n  → ${hint}`);
      return null;
    }
  }

  /** A new session: its picture numbers start over. */
  begin(): void {
    const count = this.counters.add.bind(this.counters);
    for (const camera of this.names)
      this.#assemblers.set(camera, new SliceAssembler((jpeg) => this.#pass(camera, jpeg), count, GIVE_UP_NS));
  }

  /** Takes one message of a camera's channel; `reply` sends an answer on it. */
  take(camera: string, message: Uint8Array, reply: (reply: Uint8Array) => void): void {
    const assembler = this.#assemblers.get(camera);
    if (assembler === undefined) return;
    if (message.length <= NUMBER_BYTES) return this.counters.add('short');
    if (message.length > MAX_MESSAGE_BYTES) return this.counters.add('oversize');
    const number = new DataView(message.buffer, message.byteOffset).getUint32(0, true);
    const slice = message.subarray(NUMBER_BYTES);
    const reason = assembler.ingest(slice, slice.length, monotonicClock.nowNs());
    if (reason !== null) this.counters.add(reason);
    if (!isAcknowledgementDue(number, message.length)) return;
    new DataView(this.#reply.buffer).setUint32(0, number, true);
    reply(this.#reply);
  }

  close(): Promise<void> {
    this.#assemblers.clear();
    return this.#sender.close();
  }

  #pass(camera: string, bytes: Uint8Array): void {
    const { captureNs, encodedNs } = stampsOf(bytes);
    // The robot stamps all its pictures.
    if (Number.isNaN(captureNs)) return this.counters.add('malformed');
    const ready = Number.isNaN(encodedNs) ? {} : { encodedNs };
    this.#sender.send({ camera, captureNs, ...ready, encoding: 'jpeg', bytes });
  }
}
