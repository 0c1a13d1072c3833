// UNVERIFIED ON HARDWARE: tested on pseudo-terminals only.
import type { CanBackend, CanEvents, CanLink } from './can.ts';
import type { CanFrame } from './can-frame.ts';
import { encodeToAdapter, FromAdapterDecoder, TO_ADAPTER_BYTES } from './damiao-serial-codec.ts';
import { openSerial } from './serial.ts';
import { SerialQueue } from './serial-queue.ts';

/** The rate the vendor's programs use. */
const BAUD_RATE = 921_600;
/** A few cycles of eight motors; beyond that, frames are dropped. */
const MAX_PENDING_BYTES = 32 * TO_ADAPTER_BYTES;

/** Damiao's USB-CAN adapter on a serial port. The bus bit rate is configured in the adapter. */
export function damiaoSerialBackend(path: string): CanBackend {
  return {
    name: `damiao ${path}`,
    async open(events) {
      const link = new DamiaoSerialLink(events);
      link.queue.begin(await openSerial(path, BAUD_RATE, link));
      return link;
    },
  };
}

class DamiaoSerialLink implements CanLink {
  readonly queue = new SerialQueue(MAX_PENDING_BYTES + TO_ADAPTER_BYTES);
  readonly #events: CanEvents;
  readonly #decoder: FromAdapterDecoder;
  #received = false;

  constructor(events: CanEvents) {
    this.#events = events;
    this.#decoder = new FromAdapterDecoder({
      onFrame: (frame) => {
        this.#received = true;
        events.onFrame(frame);
      },
      // The tail of a message that was in flight when we opened the port is not an error.
      onGarbage: () => {
        if (this.#received) events.onError('the adapter sent an unrecognised message');
      },
      onOther: () => {},
    });
  }

  onBytes(bytes: Uint8Array, length: number): void {
    this.#decoder.push(bytes, length);
  }

  onLost(why: string): void {
    this.queue.end();
    this.#events.onLost(why);
  }

  send(frames: readonly CanFrame[], count: number): number {
    const { queue } = this;
    if (queue.line === null) return 0;
    let taken = 0;
    while (taken < count && queue.count < MAX_PENDING_BYTES) {
      const end = encodeToAdapter(frames[taken]!, queue.bytes, queue.count);
      if (end < 0) break;
      queue.count = end;
      taken++;
    }
    queue.flush();
    return queue.line === null ? 0 : taken;
  }

  /** Everything except the tail of a message already partly sent. */
  discard(): void {
    this.queue.count %= TO_ADAPTER_BYTES;
  }

  close(): void {
    this.queue.line?.close();
    this.queue.end();
  }
}
