import type { CanFrame } from '../../src/robot/buses/can-frame.ts';
import {
  encodeFromAdapter,
  FROM_ADAPTER_BYTES,
  ToAdapterDecoder,
} from '../../src/robot/buses/damiao-serial-codec.ts';
import type { Pty } from '../../src/robot/buses/pty.ts';

const BUFFER_BYTES = 4096;

/** Damiao's serial CAN adapter on a pseudo-terminal. */
export class UsbAdapter {
  readonly #pty: Pty;
  readonly #decoder: ToAdapterDecoder;
  readonly #in = new Uint8Array(BUFFER_BYTES);
  readonly #out = new Uint8Array(BUFFER_BYTES);
  #outBytes = 0;
  garbage = 0;

  constructor(pty: Pty, onFrame: (frame: CanFrame) => void) {
    this.#pty = pty;
    this.#decoder = new ToAdapterDecoder(onFrame, () => {
      this.garbage++;
    });
  }

  poll(): void {
    const bytes = this.#pty.read(this.#in);
    if (bytes > 0) this.#decoder.push(this.#in, bytes);
  }

  receive(frame: CanFrame): void {
    if (this.#outBytes + FROM_ADAPTER_BYTES <= BUFFER_BYTES)
      this.#outBytes = encodeFromAdapter(frame, this.#out, this.#outBytes);
  }

  flush(): void {
    if (this.#outBytes === 0) return;
    const written = this.#pty.write(this.#out, this.#outBytes);
    this.#out.copyWithin(0, written, this.#outBytes);
    this.#outBytes -= written;
  }
}
