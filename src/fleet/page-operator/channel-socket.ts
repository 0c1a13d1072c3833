import { EventEmitter } from 'node:events';
import type { PageSocket } from '../../console/clients.ts';
import type { PagePeer } from '../../wire/transports/page-peer.ts';

/** A page's channels behind the socket interface that the page rules expect. */
export class ChannelSocket extends EventEmitter implements PageSocket {
  readonly OPEN = 1;
  readonly #peer: PagePeer;
  readonly #onClose: (reason: string) => void;

  constructor(peer: PagePeer, onClose: (reason: string) => void) {
    super();
    this.#peer = peer;
    this.#onClose = onClose;
  }

  get readyState(): number {
    return this.#peer.isOpen ? this.OPEN : 3;
  }

  get bufferedAmount(): number {
    return this.#peer.waitingBytes;
  }

  send(text: string): void {
    this.#peer.say(text);
  }

  close(_code: number, reason: string): void {
    this.#onClose(reason);
  }

  receive(data: string | Uint8Array): void {
    this.emit('message', data, typeof data !== 'string');
  }
}
