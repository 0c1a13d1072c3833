import type { PeerConnection, Track } from 'node-datachannel';
import { hold } from './rtc-hold.ts';
import type { Rtc } from './rtc-peer.ts';

/** Name of its media section in the descriptions. */
const PACKETS = 'packets';
const PAYLOAD_TYPE = 96;
const SSRC = { offering: 0x6661_7280, answering: 0x6661_7281 } as const;
const HEADER_BYTES = 12;
const VERSION_2 = 0x80;
/** With the headers it fits every path, also through TURN. Longer datagrams use the data channel, which divides them. */
const MAX_BYTES = 1100;

/**
 * Datagrams as RTP packets of a peer connection, each sent at once or not at all. A data channel without
 * retransmission still keeps to SCTP's congestion window: after a burst of losses it sends nothing for 0.2 s, then
 * 0.4 s, … and the window stays at one packet, because commands never fill it. RTP has no window.
 */
export class PacketTrack {
  readonly #track: Track;
  readonly #packet = Buffer.alloc(HEADER_BYTES + MAX_BYTES);
  #sequence = 0;
  /** The other side uses it too. */
  isShared = false;

  /** Create it before the first channel, which makes the offer, or before the offer is accepted. */
  constructor(
    rtc: Rtc,
    connection: PeerConnection,
    side: keyof typeof SSRC,
    take: (bytes: Uint8Array) => void,
  ) {
    // Audio, which libdatachannel marks DSCP EF, like the link's own datagrams.
    const media = new rtc.Audio(PACKETS, 'SendRecv');
    media.addAudioCodec(PAYLOAD_TYPE, 'farhand');
    media.addSSRC(SSRC[side], 'farhand', PACKETS, PACKETS);
    this.#track = connection.addTrack(media);
    hold(this.#track);
    this.#packet[0] = VERSION_2;
    this.#packet[1] = PAYLOAD_TYPE;
    this.#packet.writeUInt32BE(SSRC[side], 8);
    const other = side === 'offering' ? SSRC.answering : SSRC.offering;
    this.#track.onMessage((packet) => {
      if (isPacketOf(packet, other)) take(packet.subarray(HEADER_BYTES));
    });
  }

  /** Whether a description of the other side has this track. A side without it answers with no source of its own. */
  static isIn(sdp: string, side: keyof typeof SSRC): boolean {
    return sdp.includes(`a=mid:${PACKETS}\r\n`) && sdp.includes(`a=ssrc:${SSRC[side]} `);
  }

  /** False: not sent. */
  send(bytes: Uint8Array): boolean {
    if (!this.isShared || bytes.length > MAX_BYTES || !this.#track.isOpen()) return false;
    const packet = this.#packet;
    packet.writeUInt16BE(this.#sequence, 2);
    packet.writeUInt32BE(this.#sequence, 4);
    this.#sequence = (this.#sequence + 1) & 0xffff;
    packet.set(bytes, HEADER_BYTES);
    return this.#track.sendMessageBinary(packet.subarray(0, HEADER_BYTES + bytes.length));
  }

  close(): void {
    this.#track.close();
  }
}

/** Not a control packet, nor one with parts that this side never sends. */
const isPacketOf = (packet: Buffer, ssrc: number): boolean =>
  packet.length > HEADER_BYTES &&
  packet[0] === VERSION_2 &&
  (packet[1]! & 0x7f) === PAYLOAD_TYPE &&
  packet.readUInt32BE(8) === ssrc;
