import type { DataChannel, PeerConnection, Track } from 'node-datachannel';
import { hold } from './rtc-hold.ts';
import { nativeIce, type RtcSettings } from './rtc-link.ts';
import type { loadRtc } from './webrtc.ts';

type Rtc = Awaited<ReturnType<typeof loadRtc>>;

export interface PagePeerSettings extends RtcSettings {
  /** One channel for each. */
  cameras: readonly string[];
  /** Of an Opus track; null: no sound. */
  audio: { payloadType: number; ssrc: number } | null;
}

export interface PagePeerHandlers {
  /** On `page`, which orders and repeats. */
  text(text: string): void;
  /** On `poses`, which does neither. Bytes are valid only during the call. */
  pose(data: string | Uint8Array): void;
  /** Something came where nothing of that kind is said. */
  stray(channel: string): void;
  opened(): void;
  /** For good. */
  closed(why: string): void;
}

const GATHER_MS = 3000;
const MAX_SDP = 16 * 1024;
/** Of one message of a page. */
const MAX_MESSAGE_BYTES = 16 * 1024;
/** What is told all the time waits behind this much at most; then the next one is newer. */
const MAX_NEWS_BYTES = 16 * 1024;
const MAX_POSES_BYTES = 4096;
const LOSSY = { unordered: true, maxRetransmits: 0 } as const;
const CAMERA = 'camera:';
let peers = 0;

/**
 * A robot's peer connection to the page that drives it. This side makes the offer, with all candidates in it. Nothing is
 * queued for a page that cannot keep up but what is said on `page`, and that within bounds.
 */
export class PagePeer {
  // node-datachannel closes what is garbage-collected: these are held as long as the peer.
  readonly #connection: PeerConnection;
  readonly #channels = new Map<string, DataChannel>();
  readonly #track: Track | null;
  readonly #handlers: PagePeerHandlers;
  readonly #gathered: Promise<void>;
  #open = false;
  #closed = false;
  /** Pictures, news and sound that were not sent: not open, or too much waiting. */
  unsent = 0;

  constructor(rtc: Rtc, settings: PagePeerSettings, handlers: PagePeerHandlers) {
    this.#handlers = handlers;
    const where = settings.bindAddress === '' ? {} : { bindAddress: settings.bindAddress };
    this.#connection = new rtc.PeerConnection(`page-${++peers}`, {
      iceServers: settings.ice.map(nativeIce),
      iceTransportPolicy: settings.relayOnly ? 'relay' : 'all',
      ...where,
    });
    this.#gathered = this.#gathering();
    this.#connection.onStateChange((state) => {
      if (state === 'failed' || state === 'closed') this.#end(`the peer connection ${state}`);
    });
    this.#connection.onDataChannel((channel) => {
      handlers.stray('new');
      hold(channel);
      channel.close();
    });
    // Before the channels: the first of them makes the offer.
    this.#track = settings.audio && this.#soundTrack(rtc, settings.audio);
    this.#take('page', {});
    this.#take('news', LOSSY);
    this.#take('poses', LOSSY);
    for (const camera of settings.cameras) this.#take(`${CAMERA}${camera}`, LOSSY);
  }

  get isOpen(): boolean {
    return this.#open && !this.#closed;
  }

  /** Null before it was measured. */
  get rttMs(): number | null {
    const ms = this.#closed ? 0 : this.#connection.rtt();
    return ms > 0 ? ms : null;
  }

  /** `host`, `srflx`, `prflx` or `relay`; empty before the two ends reach each other. */
  get path(): string {
    const pair = this.#closed ? null : this.#connection.getSelectedCandidatePair();
    if (!pair) return '';
    return pair.remote.type === 'relay' ? 'relay' : pair.local.type;
  }

  /** Of what is said on `page`. */
  get waitingBytes(): number {
    return this.isOpen ? this.#waiting('page') : 0;
  }

  async description(): Promise<string> {
    await this.#gathered;
    return this.#connection.localDescription()?.sdp ?? '';
  }

  /** False: not an answer. */
  accept(answer: string): boolean {
    if (answer.length > MAX_SDP) return false;
    try {
      this.#connection.setRemoteDescription(withoutLocalNames(answer), 'answer');
      return true;
    } catch {
      return false;
    }
  }

  /** On `page`; the caller looks at `waitingBytes`. */
  say(text: string): boolean {
    return this.#send('page', text, Number.POSITIVE_INFINITY);
  }

  tell(text: string): boolean {
    return this.#send('news', text, MAX_NEWS_BYTES);
  }

  probe(text: string): boolean {
    return this.#send('poses', text, MAX_POSES_BYTES);
  }

  /** Only when the picture before has left. */
  show(camera: string, jpeg: Uint8Array): boolean {
    return this.#send(`${CAMERA}${camera}`, jpeg, 0);
  }

  /** An RTP packet of the track. */
  sound(rtp: Uint8Array): boolean {
    const track = this.#track;
    try {
      if (this.isOpen && track?.isOpen() && track.sendMessageBinary(Buffer.from(rtp))) return true;
    } catch {
      // It closed meanwhile.
    }
    this.unsent++;
    return false;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const channel of this.#channels.values()) channel.close();
    this.#track?.close();
    this.#connection.close();
  }

  #gathering(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS);
      timer.unref();
      this.#connection.onGatheringStateChange((state) => {
        if (state !== 'complete') return;
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #soundTrack(rtc: Rtc, { payloadType, ssrc }: { payloadType: number; ssrc: number }): Track {
    const audio = new rtc.Audio('audio', 'SendOnly');
    audio.addOpusCodec(payloadType);
    audio.addSSRC(ssrc, 'farhand', 'robot', 'robot-sound');
    const track = this.#connection.addTrack(audio);
    hold(track);
    return track;
  }

  #take(label: string, options: { unordered?: boolean; maxRetransmits?: number }): void {
    const channel = this.#connection.createDataChannel(label, options);
    this.#channels.set(label, channel);
    const carries = label === 'page' || label === 'poses';
    channel.onOpen(() => this.#check());
    hold(channel, () => {
      if (carries) this.#end('the peer connection closed');
    });
    if (carries) channel.onError(() => this.#end('the peer connection failed'));
    channel.onMessage((data) => {
      if (this.#closed) return;
      const length = typeof data === 'string' ? data.length : data.byteLength;
      const isText = typeof data === 'string';
      if (!carries || length > MAX_MESSAGE_BYTES || (label === 'page' && !isText))
        this.#handlers.stray(label);
      else if (label === 'page') this.#handlers.text(data as string);
      else this.#handlers.pose(isText ? data : new Uint8Array(data));
    });
  }

  #waiting(label: string): number {
    try {
      return this.#channels.get(label)?.bufferedAmount() ?? 0;
    } catch {
      return Number.POSITIVE_INFINITY;
    }
  }

  #send(label: string, data: string | Uint8Array, behindBytes: number): boolean {
    const channel = this.#channels.get(label);
    try {
      if (channel !== undefined && this.isOpen && hasRoom(channel, data.length, behindBytes)) {
        // Its false says that the message waits, not that it is lost.
        if (typeof data === 'string') channel.sendMessage(data);
        else channel.sendMessageBinary(data);
        return true;
      }
    } catch {
      // It closed meanwhile.
    }
    this.unsent++;
    return false;
  }

  #check(): void {
    if (this.#open || this.#closed) return;
    for (const label of ['page', 'poses', 'news']) if (!this.#channels.get(label)?.isOpen()) return;
    this.#open = true;
    this.#handlers.opened();
  }

  #end(why: string): void {
    if (this.#closed) return;
    this.close();
    this.#handlers.closed(why);
  }
}

const hasRoom = (channel: DataChannel, length: number, behindBytes: number): boolean =>
  channel.isOpen() && channel.bufferedAmount() <= behindBytes && length <= channel.maxMessageSize();

/** A browser hides its addresses behind names that only its own network resolves; its checks reach us without. */
const withoutLocalNames = (sdp: string): string =>
  sdp
    .split('\r\n')
    .filter((line) => !/^a=candidate:.*\.local\b/.test(line))
    .join('\r\n');
