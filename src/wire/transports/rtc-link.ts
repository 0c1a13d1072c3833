import type { DataChannel, Track } from 'node-datachannel';
import { EntryBoundary } from '../../core/entry-boundary.ts';
import { PacketTrack } from './packet-track.ts';
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

export interface RtcLinkSettings extends RtcSettings {
  /**
   * The offering side's cameras; the answering side takes those it names and closes the channels of others.
   */
  cameras?: readonly string[];
  /** Audio the offering side sends, as RTP packets of this format. */
  sound?: SoundForm | null;
  /** Datagrams travel as RTP packets where both sides know them, not on the data channel. */
  packets?: boolean;
}

export interface RtcHandlers {
  /** As a packet or on the unordered, unreliable channel. Valid only during the call. */
  datagram(bytes: Uint8Array): void;
  /** On the ordered, reliable channel. */
  control(text: string): void;
  /** On a camera's channel, in either direction. Valid only during the call. */
  camera?(name: string, bytes: Uint8Array): void;
  /** The channel of that camera opened or closed. */
  cameraOpen?(name: string, open: boolean): void;
  /** An RTP packet. Valid only during the call. */
  sound?(rtp: Uint8Array): void;
  /** An unexpected message arrived on a channel. */
  stray?(): void;
  opened(): void;
  /** Ended; it does not reconnect. */
  closed(why: string): void;
}

const MAX_CONTROL = 4096;
/** Datagrams waiting behind more than this are better lost: about a fifth of a second of commands. */
const MAX_WAITING_BYTES = 8192;
/** How long a slice of a picture is retransmitted. */
const CAMERA_LIFE_MS = 150;

/**
 * A peer connection between two Farhand processes: unreliable datagrams, a reliable control channel, and from
 * the offering side pictures (one channel per camera) and audio. Both descriptions carry their candidates, so
 * one request and one answer are enough.
 */
export class RtcLink {
  // node-datachannel closes what is garbage-collected: these are held as long as the link.
  readonly #peer: RtcPeer;
  readonly #channels = new Map<string, DataChannel>();
  readonly #handlers: RtcHandlers;
  readonly #boundary = new EntryBoundary('peer connection');
  readonly #cameras: readonly string[];
  #track: Track | null = null;
  #packets: PacketTrack | null = null;
  #open = false;
  #closed = false;
  /** Datagrams not sent: channel not open, or too many waiting. */
  unsent = 0;

  /** Makes the offer, or answers to `offer`. */
  constructor(rtc: Rtc, settings: RtcLinkSettings, handlers: RtcHandlers, offer?: string) {
    this.#handlers = handlers;
    this.#cameras = settings.cameras ?? [];
    this.#peer = new RtcPeer(rtc, 'link', settings, (why) => this.#end(why));
    const { connection } = this.#peer;
    connection.onDataChannel((channel) =>
      offer === undefined ? this.#reject(channel) : this.#take(channel),
    );
    if (offer === undefined) this.#offer(rtc, settings);
    else {
      connection.onTrack((track) => this.#takeTrack(track));
      if (settings.packets && PacketTrack.isIn(offer, 'offering')) {
        this.#packets = this.#openPackets(rtc, 'answering');
        this.#packets.isShared = true;
      }
      if (this.#peer.accept(offer, 'offer') !== null)
        throw new Error('the received description is not an offer');
    }
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

  description(): Promise<string> {
    return this.#peer.description();
  }

  accept(answer: string): NotAccepted | null {
    const reason = this.#peer.accept(answer, 'answer');
    if (this.#packets && reason === null) this.#packets.isShared = PacketTrack.isIn(answer, 'answering');
    return reason;
  }

  /** Of the answering side: the other one has accepted the answer. */
  begin(): void {
    this.#peer.begin();
  }

  send(bytes: Uint8Array): boolean {
    const channel = this.#channels.get('link');
    try {
      if (this.isOpen && this.#packets?.send(bytes)) return true;
      if (this.isOpen && channel!.bufferedAmount() <= MAX_WAITING_BYTES) {
        // False means that the message is queued, not lost.
        channel!.sendMessageBinary(bytes);
        return true;
      }
    } catch {
      // Closed meanwhile.
    }
    this.unsent++;
    return false;
  }

  /** On the channel of that camera. False: it is not open, or earlier messages are still queued. */
  sendCamera(name: string, bytes: Uint8Array): boolean {
    const channel = this.#closed ? undefined : this.#channels.get(CAMERA + name);
    try {
      return channel?.isOpen() === true && channel.bufferedAmount() === 0 && channel.sendMessageBinary(bytes);
    } catch {
      return false;
    }
  }

  sendSound(rtp: Uint8Array): boolean {
    return this.isOpen && sendRtp(this.#track, rtp);
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
    this.#track?.close();
    this.#packets?.close();
    this.#peer.close();
  }

  /** The first channel creates the description: everything else in it must exist before. */
  #offer(rtc: Rtc, { sound, packets }: RtcLinkSettings): void {
    if (packets) this.#packets = this.#openPackets(rtc, 'offering');
    if (sound) this.#track = this.#peer.addSound(rtc, sound);
    const { connection } = this.#peer;
    this.#take(connection.createDataChannel('link', { unordered: true, maxRetransmits: 0 }));
    this.#take(connection.createDataChannel('control'));
    const pictures = { unordered: true, maxPacketLifeTime: CAMERA_LIFE_MS };
    for (const name of this.#cameras) this.#take(connection.createDataChannel(CAMERA + name, pictures));
  }

  #openPackets(rtc: Rtc, side: 'offering' | 'answering'): PacketTrack {
    return new PacketTrack(rtc, this.#peer.connection, side, (bytes) => {
      if (this.#open && !this.#closed) this.#boundary.run(() => this.#handlers.datagram(bytes));
    });
  }

  #take(channel: DataChannel): void {
    const label = channel.getLabel();
    const camera = label.startsWith(CAMERA) ? label.slice(CAMERA.length) : null;
    const isWanted = camera === null ? ['link', 'control'].includes(label) : this.#cameras.includes(camera);
    if (this.#closed || this.#channels.has(label) || !isWanted) return this.#reject(channel);
    this.#channels.set(label, channel);
    if (camera !== null) return this.#takeCamera(camera, channel);
    channel.onOpen(() => this.#check());
    hold(channel, () => this.#end('the peer connection closed'));
    channel.onError(() => this.#end('the peer connection failed'));
    channel.onMessage((data) => {
      const stray = () => this.#handlers.stray?.();
      this.#boundary.run(() => this.#receive(label, data), stray);
    });
    this.#check();
  }

  #receive(label: string, data: string | ArrayBuffer | Buffer): void {
    if (this.#closed) return;
    const isText = typeof data === 'string';
    if (label === 'link' && !isText) this.#handlers.datagram(new Uint8Array(data));
    else if (label === 'control' && isText && data.length <= MAX_CONTROL) this.#handlers.control(data);
    else this.#handlers.stray?.();
  }

  #reject(channel: DataChannel): void {
    this.#handlers.stray?.();
    hold(channel);
    channel.close();
  }

  /** Closing it ends nothing else. */
  #takeCamera(name: string, channel: DataChannel): void {
    let isOpen = false;
    const notify = (open: boolean) => {
      if (this.#closed || open === isOpen) return;
      isOpen = open;
      this.#handlers.cameraOpen?.(name, open);
    };
    channel.onOpen(() => notify(true));
    hold(channel, () => notify(false));
    channel.onError(() => notify(false));
    channel.onMessage((data) => {
      if (this.#closed) return;
      if (typeof data === 'string') this.#handlers.stray?.();
      else this.#boundary.run(() => this.#handlers.camera?.(name, new Uint8Array(data)));
    });
    if (channel.isOpen()) notify(true);
  }

  #takeTrack(track: Track): void {
    hold(track);
    this.#track = track;
    track.onMessage((rtp) => {
      if (!this.#closed) this.#boundary.run(() => this.#handlers.sound?.(rtp));
    });
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
