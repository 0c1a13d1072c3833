import type { PeerConnection, RtpPacketizationConfig, Track } from 'node-datachannel';
import { hold } from './rtc-hold.ts';
import type { Rtc } from './rtc-peer.ts';

export interface VideoTrackHandlers {
  /** The receiver cannot continue without a key picture. */
  keyWanted(): void;
  /** Share of packets lost since the receiver's last report. */
  lost(share: number): void;
}

/** What a track's identifier in the description begins with; the name follows. */
export const VIDEO = 'video-';
const PAYLOAD_TYPE = 102;
const CLOCK_HZ = 90_000;
const FIRST_SSRC = 0x6661_7300;
/** Constrained baseline, level 3.1; NAL units may be cut into several packets. */
const PROFILE = 'profile-level-id=42e01f;packetization-mode=1;level-asymmetry-allowed=1';
/** With its headers a packet fits every path, also through TURN. */
const MAX_PAYLOAD_BYTES = 1100;
/** Packets kept for retransmission: about two seconds. */
const KEPT_PACKETS = 1024;
const DELAY_ID = 5;
/** Tells a browser to show each picture as soon as it is complete, with no buffer against jitter. */
const NO_PLAYOUT_DELAY = `extmap:${DELAY_ID} http://www.webrtc.org/experiments/rtp-hdrext/playout-delay`;

/**
 * An H.264 track of a peer connection, from this side only. Lost packets are sent again on request. Create it
 * before the first channel, which makes the offer.
 */
export class VideoTrack {
  readonly #track: Track;
  readonly #rtp: RtpPacketizationConfig;

  constructor(
    rtc: Rtc,
    connection: PeerConnection,
    name: string,
    index: number,
    handlers: VideoTrackHandlers,
  ) {
    const ssrc = FIRST_SSRC + index;
    const video = new rtc.Video(`${VIDEO}${name}`, 'SendOnly');
    video.addH264Codec(PAYLOAD_TYPE, PROFILE);
    video.addSSRC(ssrc, 'farhand', `${VIDEO}${name}`, `${VIDEO}${name}`);
    video.parseSdpLine(`a=${NO_PLAYOUT_DELAY}`);
    this.#rtp = new rtc.RtpPacketizationConfig(ssrc, 'farhand', PAYLOAD_TYPE, CLOCK_HZ);
    this.#rtp.playoutDelayId = DELAY_ID;
    this.#rtp.playoutDelayMin = 0;
    this.#rtp.playoutDelayMax = 0;
    const packets = new rtc.H264RtpPacketizer('Length', this.#rtp, MAX_PAYLOAD_BYTES);
    packets.addToChain(new rtc.RtcpSrReporter(this.#rtp));
    packets.addToChain(new rtc.RtcpNackResponder(KEPT_PACKETS));
    this.#track = connection.addTrack(video);
    this.#track.setMediaHandler(packets);
    hold(this.#track);
    this.#track.onMessage((bytes) => readReports(bytes, ssrc, handlers));
  }

  /** The other side accepted it. */
  get isOpen(): boolean {
    return this.#track.isOpen();
  }

  /** NAL units, each after its length in four bytes. `captureNs` becomes the time in the packets. */
  send(units: Uint8Array, captureNs: number): boolean {
    try {
      if (!this.#track.isOpen()) return false;
      this.#rtp.timestamp = Math.round((captureNs / 1e9) * CLOCK_HZ) % 2 ** 32;
      this.#track.sendMessageBinary(Buffer.from(units.buffer, units.byteOffset, units.length));
      return true;
    } catch {
      return false;
    }
  }

  close(): void {
    this.#track.close();
  }
}

const RECEIVER_REPORT = 201;
const PAYLOAD_FEEDBACK = 206;
const PICTURE_LOSS = 1;
const FULL_INTRA = 4;

/** A compound RTCP packet (RFC 3550, RFC 4585). Anything else is ignored. */
export function readReports(bytes: Uint8Array, ssrc: number, handlers: VideoTrackHandlers): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at + 4 <= bytes.length; ) {
    const kind = bytes[at + 1]!;
    const format = bytes[at]! & 0x1f;
    const end = at + 4 * (view.getUint16(at + 2) + 1);
    if (bytes[at]! >> 6 !== 2 || end > bytes.length) return;
    if (kind === PAYLOAD_FEEDBACK && (format === PICTURE_LOSS || format === FULL_INTRA)) handlers.keyWanted();
    if (kind === RECEIVER_REPORT)
      for (let block = at + 8, i = 0; i < format && block + 24 <= end; i++, block += 24)
        if (view.getUint32(block) === ssrc) handlers.lost(bytes[block + 4]! / 256);
    at = end;
  }
}
