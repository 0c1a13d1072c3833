import type { FrameSender, FrameSenderConfig } from '../camera/channel/frame-sender.ts';
import { openFrameSender } from '../camera/channel/sender.ts';
import { stampsOf } from '../camera/jpeg-structure.ts';
import { SliceAssembler } from '../camera/slice-assembler.ts';
import { Counters } from '../core/counters.ts';
import { monotonicClock } from '../core/time/clock.ts';
import { isAcknowledgementDue, MAX_MESSAGE_BYTES, NUMBER_BYTES } from './camera-line.ts';

/** Through a slow network a picture takes its time; the robot gives it up a little sooner. */
const GIVE_UP_NS = 500e6;

/**
 * The robot's pictures at the operator: put together and sent on by the rig's own camera channel on this machine, stamps
 * and all, where everybody finds them as on a network of one's own.
 */
export class CameraIn {
  readonly names: readonly string[];
  /** What was refused or given up. */
  readonly counters = new Counters();
  readonly #sender: FrameSender;
  readonly #assemblers = new Map<string, SliceAssembler>();
  readonly #reply = new Uint8Array(NUMBER_BYTES);

  private constructor(names: readonly string[], sender: FrameSender) {
    this.names = names;
    this.#sender = sender;
    this.begin();
  }

  /** Null without cameras, or where their port is taken: driving goes on without. */
  static async open(config: FrameSenderConfig): Promise<CameraIn | null> {
    if (config.cameras.length === 0) return null;
    try {
      return new CameraIn(config.cameras, await openFrameSender(config, () => {}));
    } catch (error) {
      const { message, hint = '' } = error as Error & { hint?: string };
      console.error(`farhand: fleet: the robot’s cameras are not passed on: ${message}\n  → ${hint}`);
      return null;
    }
  }

  /** A new session: its pictures are counted anew. */
  begin(): void {
    const remark = this.counters.add.bind(this.counters);
    for (const camera of this.names)
      this.#assemblers.set(
        camera,
        new SliceAssembler((jpeg) => this.#pass(camera, jpeg), remark, GIVE_UP_NS),
      );
  }

  /** One message of a camera's channel; `reply` answers there. */
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
    // Pictures without a stamp are not the robot's.
    if (Number.isNaN(captureNs)) return this.counters.add('malformed');
    const ready = Number.isNaN(encodedNs) ? {} : { encodedNs };
    this.#sender.send({ camera, captureNs, ...ready, encoding: 'jpeg', bytes });
  }
}
