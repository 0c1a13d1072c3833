import type { DataChannel, IceServer as NativeIce, PeerConnection } from 'node-datachannel';
import type { loadRtc } from './webrtc.ts';

type Rtc = Awaited<ReturnType<typeof loadRtc>>;

export interface RtcSettings {
  /** `stun:HOST:PORT` or `turn:HOST:PORT`, the latter with credentials. */
  ice: readonly { url: string; username?: string | undefined; password?: string | undefined }[];
  /** The only address to be found at; empty: all of this machine's. */
  bindAddress: string;
  relayOnly: boolean;
}

export interface RtcHandlers {
  /** On the channel that neither orders nor repeats. Valid only during the call. */
  datagram(bytes: Uint8Array): void;
  /** On the channel that does both. */
  control(text: string): void;
  opened(): void;
  /** For good. */
  closed(why: string): void;
}

const GATHER_MS = 3000;
const MAX_CONTROL = 4096;
/** What has waited for longer than this much is better lost: about a fifth of a second of commands. */
const MAX_WAITING_BYTES = 8192;
let links = 0;

/**
 * A peer connection between two Farhand processes: datagrams that may be lost, and a few words that may not. Both
 * descriptions carry their candidates, so that one question and one answer are enough.
 */
export class RtcLink {
  // node-datachannel closes what is garbage-collected: these are held as long as the link.
  readonly #connection: PeerConnection;
  readonly #channels = new Map<string, DataChannel>();
  readonly #handlers: RtcHandlers;
  readonly #gathered: Promise<void>;
  #open = false;
  #closed = false;
  /** Datagrams that were not sent: not open, or too many waiting. */
  unsent = 0;

  /** Makes the offer, or answers to `offer`. */
  constructor(rtc: Rtc, settings: RtcSettings, handlers: RtcHandlers, offer?: string) {
    this.#handlers = handlers;
    const where = settings.bindAddress === '' ? {} : { bindAddress: settings.bindAddress };
    this.#connection = new rtc.PeerConnection(`link-${++links}`, {
      iceServers: settings.ice.map(nativeIce),
      iceTransportPolicy: settings.relayOnly ? 'relay' : 'all',
      ...where,
    });
    this.#gathered = new Promise((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS);
      timer.unref();
      this.#connection.onGatheringStateChange((state) => {
        if (state !== 'complete') return;
        clearTimeout(timer);
        resolve();
      });
    });
    this.#connection.onStateChange((state) => {
      if (state === 'failed' || state === 'closed') this.#end(`the peer connection ${state}`);
    });
    if (offer === undefined) {
      this.#take(this.#connection.createDataChannel('link', { unordered: true, maxRetransmits: 0 }));
      this.#take(this.#connection.createDataChannel('control'));
    } else {
      this.#connection.onDataChannel((channel) => this.#take(channel));
      this.#connection.setRemoteDescription(offer, 'offer');
    }
  }

  get isOpen(): boolean {
    return this.#open && !this.#closed;
  }

  /** Null before it was measured. */
  get rttMs(): number | null {
    const ms = this.#closed ? 0 : this.#connection.rtt();
    return ms > 0 ? ms : null;
  }

  /** How the two ends reach each other: `host`, `srflx`, `prflx` or `relay`; empty before they do. */
  get path(): string {
    const pair = this.#closed ? null : this.#connection.getSelectedCandidatePair();
    if (!pair) return '';
    return pair.remote.type === 'relay' ? 'relay' : pair.local.type;
  }

  async description(): Promise<string> {
    await this.#gathered;
    return this.#connection.localDescription()?.sdp ?? '';
  }

  /** False: not an answer. */
  accept(answer: string): boolean {
    try {
      this.#connection.setRemoteDescription(answer, 'answer');
      return true;
    } catch {
      return false;
    }
  }

  send(bytes: Uint8Array): boolean {
    const channel = this.#channels.get('link');
    try {
      if (this.isOpen && channel!.bufferedAmount() <= MAX_WAITING_BYTES && channel!.sendMessageBinary(bytes))
        return true;
    } catch {
      // It closed meanwhile.
    }
    this.unsent++;
    return false;
  }

  say(text: string): boolean {
    try {
      return this.isOpen && this.#channels.get('control')!.sendMessage(text);
    } catch {
      return false;
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const channel of this.#channels.values()) channel.close();
    this.#connection.close();
  }

  #take(channel: DataChannel): void {
    const label = channel.getLabel();
    if (this.#closed || this.#channels.has(label) || (label !== 'link' && label !== 'control')) {
      channel.close();
      return;
    }
    this.#channels.set(label, channel);
    channel.onOpen(() => this.#check());
    channel.onClosed(() => this.#end('the peer connection closed'));
    channel.onError(() => this.#end('the peer connection failed'));
    channel.onMessage((data) => {
      if (this.#closed) return;
      if (label === 'link') {
        if (typeof data !== 'string') this.#handlers.datagram(new Uint8Array(data));
      } else if (typeof data === 'string' && data.length <= MAX_CONTROL) this.#handlers.control(data);
    });
    this.#check();
  }

  #check(): void {
    const [link, control] = [this.#channels.get('link'), this.#channels.get('control')];
    if (this.#open || this.#closed || !link?.isOpen() || !control?.isOpen()) return;
    this.#open = true;
    this.#handlers.opened();
  }

  #end(why: string): void {
    if (this.#closed) return;
    this.close();
    this.#handlers.closed(why);
  }
}

export function nativeIce({ url, username, password }: RtcSettings['ice'][number]): string | NativeIce {
  const [kind, hostname = '', port] = url.split(':');
  if (kind !== 'turn') return url;
  return { hostname, port: Number(port), relayType: 'TurnUdp', username: username!, password: password! };
}
