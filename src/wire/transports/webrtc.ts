import type { DataChannel, PeerConnection } from 'node-datachannel';
import { EntryBoundary } from '../../core/entry-boundary.ts';
import { TeleopError } from '../../core/errors.ts';
import { hold } from './rtc-hold.ts';

type Rtc = typeof import('node-datachannel');

/** node-datachannel where it is installed. */
export async function loadRtc(): Promise<Rtc> {
  try {
    return await import('node-datachannel');
  } catch (cause) {
    throw new TeleopError('native-unavailable', `WebRTC is not available: ${(cause as Error).message}`, {
      hint: 'Install node-datachannel (`npm install`); without it headsets send over the WebSocket.',
      cause,
    });
  }
}

/** Exchanged over another connection until the two ends reach each other. */
export type RtcSignal = { type: 'offer' | 'answer'; sdp: string } | { candidate: string; mid: string };

export interface PeerHandlers {
  /** To be carried to the browser. */
  signal(signal: RtcSignal): void;
  /** Valid only during the call. `reliable`: on the channel that loses nothing. */
  message(data: Uint8Array | string, reliable: boolean): void;
  /** Both channels opened, or one closed. */
  changed(open: boolean): void;
}

const MAX_SDP = 16 * 1024;
const MAX_CANDIDATE = 512;
let peers = 0;

/**
 * A peer connection to a browser with two data channels: `poses`, unordered and unreliable, and `control`,
 * ordered and reliable. This side makes the offer: headset browsers have been seen to hang when making one.
 */
export class DataPeer {
  // node-datachannel closes what is garbage-collected: these are held as long as the peer.
  readonly #connection: PeerConnection;
  readonly #poses: DataChannel;
  readonly #control: DataChannel;
  readonly #handlers: PeerHandlers;
  readonly #boundary = new EntryBoundary('peer connection');
  #open = false;
  #closed = false;

  /** `bindAddress`: the only local address to offer; empty for all of this machine's. */
  constructor(rtc: Rtc, bindAddress: string, handlers: PeerHandlers) {
    this.#handlers = handlers;
    const where = bindAddress === '' ? {} : { bindAddress };
    this.#connection = new rtc.PeerConnection(`headset-${++peers}`, { iceServers: [], ...where });
    this.#connection.onLocalDescription((sdp, type) => {
      if (type === 'offer') handlers.signal({ type, sdp });
    });
    this.#connection.onLocalCandidate((candidate, mid) => handlers.signal({ candidate, mid }));
    this.#connection.onStateChange((state) => {
      if (state === 'failed' || state === 'closed' || state === 'disconnected') this.#setOpen(false);
    });
    this.#poses = this.#channel('poses', { unordered: true, maxRetransmits: 0 }, false);
    this.#control = this.#channel('control', {}, true);
  }

  get open(): boolean {
    return this.#open;
  }

  /** Handles the browser's answer. False: not valid. */
  accept(signal: unknown): boolean {
    const { type, sdp, candidate, mid } = (signal ?? {}) as Record<string, unknown>;
    try {
      if (type === 'answer' && typeof sdp === 'string' && sdp.length <= MAX_SDP)
        this.#connection.setRemoteDescription(sdp, 'answer');
      else if (
        typeof candidate === 'string' &&
        candidate.length <= MAX_CANDIDATE &&
        typeof mid === 'string'
      ) {
        // A name that only the browser's own network can resolve; its checks reach us without it.
        if (!candidate.includes('.local')) this.#connection.addRemoteCandidate(candidate, mid);
      } else return false;
      return true;
    } catch {
      return false;
    }
  }

  /** Over the unreliable channel. */
  send(text: string): boolean {
    try {
      return this.#open && this.#poses.isOpen() && this.#poses.sendMessage(text);
    } catch {
      return false;
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#setOpen(false);
    this.#closed = true;
    this.#poses.close();
    this.#control.close();
    this.#connection.close();
  }

  #channel(name: string, options: { unordered?: boolean; maxRetransmits?: number }, reliable: boolean) {
    const channel = this.#connection.createDataChannel(name, options);
    channel.onOpen(() => this.#setOpen(this.#poses.isOpen() && this.#control.isOpen()));
    hold(channel, () => this.#setOpen(false));
    channel.onError(() => this.#setOpen(false));
    channel.onMessage((data) => {
      if (this.#closed) return;
      const bytes = data instanceof ArrayBuffer ? new Uint8Array(data) : data;
      this.#boundary.run(() => this.#handlers.message(bytes, reliable));
    });
    return channel;
  }

  #setOpen(open: boolean): void {
    if (this.#closed || open === this.#open) return;
    this.#open = open;
    this.#handlers.changed(open);
  }
}
