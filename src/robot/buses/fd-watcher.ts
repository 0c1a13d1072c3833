import type { BusLibc } from './libc.ts';

const POLLIN = 1;
/** Bounds how long an ended watcher occupies its pool thread. */
const WAIT_MS = 100;

/**
 * Reports on this thread's event loop when a descriptor is readable or has an error. Waits in `poll` on a
 * pool thread, which works for any descriptor and in any worker. The watcher owns the descriptor and closes
 * it when it ends.
 */
export class FdWatcher {
  readonly #libc: BusLibc;
  readonly #fd: number;
  readonly #onReadable: () => void;
  readonly #pollFd = new Uint8Array(8);
  #ended = false;

  constructor(libc: BusLibc, fd: number, onReadable: () => void) {
    this.#libc = libc;
    this.#fd = fd;
    this.#onReadable = onReadable;
    const view = new DataView(this.#pollFd.buffer);
    view.setInt32(0, fd, true);
    view.setInt16(4, POLLIN, true);
    this.#wait();
  }

  /** No more reports. The descriptor is closed once the pool thread leaves `poll`. */
  end(): void {
    this.#ended = true;
  }

  #wait(): void {
    this.#libc.poll.async(this.#pollFd, 1, WAIT_MS, (_error, ready) => {
      if (!this.#ended && ready > 0) this.#onReadable();
      if (this.#ended) this.#libc.close(this.#fd);
      else this.#wait();
    });
  }
}
