import type { DataChannel, Track } from 'node-datachannel';
import { EntryBoundary } from '../../core/entry-boundary.ts';
import { hold } from './rtc-hold.ts';
import {
  CAMERA,
  type NotAccepted,
  type Rtc,
  RtcPeer,
  type RtcSettings,
  type SoundForm,
  sendRtp,
} from './rtc-peer.ts';
import { VideoTrack } from './video-track.ts';

export interface PagePeerSettings extends RtcSettings {
  /** One channel per camera. */
  cameras: readonly string[];
  /** Names of H.264 tracks. */
  videos: readonly string[];
  /** Of an Opus track; null: no audio. */
  audio: SoundForm | null;
}

export interface PagePeerHandlers {
  /** On `page`, which is ordered and reliable. */
  text(text: string): void;
  /** On `poses`, which is neither. Bytes are valid only during the call. */
  pose(data: string | Uint8Array): void;
  /** The page cannot continue this video without a key picture. */
  keyWanted(video: string): void;
  /** Share of the video's packets lost since the page's last report. */
  videoLost(video: string, share: number): void;
  /** An unexpected message arrived on a channel. */
  stray(channel: string): void;
  opened(): void;
  /** Ended; it does not reconnect. */
  closed(why: string): void;
}

/** Of one page message. */
const MAX_MESSAGE_BYTES = 16 * 1024;
/** Most bytes that periodic messages may wait behind; beyond that, the next one is newer. */
const MAX_EVENT_BYTES = 16 * 1024;
const MAX_POSES_BYTES = 4096;
const LOSSY = { unordered: true, maxRetransmits: 0 } as const;

/**
 * A robot's peer connection to the page that drives it. This side makes the offer, with all candidates in it.
 * Only messages on `page` are queued for a page that cannot keep up, and only up to a limit.
 */
export class PagePeer {
  // node-datachannel closes what is garbage-collected: these are held as long as the peer.
  readonly #peer: RtcPeer;
  readonly #channels = new Map<string, DataChannel>();
  readonly #track: Track | null;
  readonly #videos = new Map<string, VideoTrack>();
  readonly #handlers: PagePeerHandlers;
  readonly #boundary = new EntryBoundary('peer connection of a page');
  #open = false;
  #closed = false;
  /** Pictures, telemetry and audio not sent: channel not open, or too much waiting. */
  unsent = 0;

  constructor(rtc: Rtc, settings: PagePeerSettings, handlers: PagePeerHandlers) {
    this.#handlers = handlers;
    this.#peer = new RtcPeer(rtc, 'page', settings, (why) => this.#end(why));
    this.#peer.connection.onDataChannel((channel) => {
      handlers.stray('new');
      hold(channel);
      channel.close();
    });
    // Before the channels: the first of them makes the offer.
    this.#track = settings.audio && this.#peer.addSound(rtc, settings.audio);
    for (const [index, name] of settings.videos.entries()) this.#addVideo(rtc, name, index);
    this.#take('page', {});
    this.#take('news', LOSSY);
    this.#take('poses', LOSSY);
    for (const camera of settings.cameras) this.#take(`${CAMERA}${camera}`, LOSSY);
  }

  get isOpen(): boolean {
    return this.#open && !this.#closed;
  }

  get rttMs(): number | null {
    return this.#peer.rttMs;
  }

  get path(): string {
    return this.#peer.path;
  }

  /** Bytes queued on `page`. */
  get waitingBytes(): number {
    return this.isOpen ? this.#waiting('page') : 0;
  }

  description(): Promise<string> {
    return this.#peer.description();
  }

  accept(answer: string): NotAccepted | null {
    return this.#peer.accept(answer, 'answer');
  }

  /** On `page`; the caller checks `waitingBytes`. */
  say(text: string): boolean {
    return this.#send('page', text, Number.POSITIVE_INFINITY);
  }

  sendEvent(text: string): boolean {
    return this.#send('news', text, MAX_EVENT_BYTES);
  }

  probe(text: string): boolean {
    return this.#send('poses', text, MAX_POSES_BYTES);
  }

  /** Only once the previous picture has left. */
  show(camera: string, jpeg: Uint8Array): boolean {
    return this.#send(`${CAMERA}${camera}`, jpeg, 0);
  }

  /** Whether the page accepted this video. */
  hasVideo(name: string): boolean {
    return this.isOpen && this.#videos.get(name)?.isOpen === true;
  }

  /** One picture as H.264; see `VideoTrack`. */
  sendVideo(name: string, units: Uint8Array, captureNs: number): boolean {
    if (this.isOpen && this.#videos.get(name)?.send(units, captureNs)) return true;
    this.unsent++;
    return false;
  }

  /** An RTP packet of the track. */
  sound(rtp: Uint8Array): boolean {
    if (this.isOpen && sendRtp(this.#track, rtp)) return true;
    this.unsent++;
    return false;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const channel of this.#channels.values()) channel.close();
    this.#track?.close();
    for (const video of this.#videos.values()) video.close();
    this.#peer.close();
  }

  #addVideo(rtc: Rtc, name: string, index: number): void {
    const track = new VideoTrack(rtc, this.#peer.connection, name, index, {
      keyWanted: () => this.#handlers.keyWanted(name),
      lost: (share) => this.#handlers.videoLost(name, share),
    });
    this.#videos.set(name, track);
  }

  #take(label: string, options: { unordered?: boolean; maxRetransmits?: number }): void {
    const channel = this.#peer.connection.createDataChannel(label, options);
    this.#channels.set(label, channel);
    const carries = label === 'page' || label === 'poses';
    channel.onOpen(() => this.#check());
    hold(channel, () => {
      if (carries) this.#end('the peer connection closed');
    });
    if (carries) channel.onError(() => this.#end('the peer connection failed'));
    channel.onMessage((data) => {
      const stray = () => this.#handlers.stray(label);
      this.#boundary.run(() => (carries ? this.#receive(label, data) : stray()), stray);
    });
  }

  #receive(label: string, data: string | ArrayBuffer | Buffer): void {
    if (this.#closed) return;
    const length = typeof data === 'string' ? data.length : data.byteLength;
    const isText = typeof data === 'string';
    if (length > MAX_MESSAGE_BYTES || (label === 'page' && !isText)) this.#handlers.stray(label);
    else if (label === 'page') this.#handlers.text(data as string);
    else this.#handlers.pose(isText ? data : new Uint8Array(data));
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
        // False means that the message is queued, not lost.
        if (typeof data === 'string') channel.sendMessage(data);
        else channel.sendMessageBinary(data);
        return true;
      }
    } catch {
      // Closed meanwhile.
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
