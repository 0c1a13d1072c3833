import type { IceServer as NativeIce, PeerConnection, Track } from 'node-datachannel';
import { type IceCandidate, splitCandidates } from '../../messages/session-description.ts';
import { relayedOnly } from './relay-only.ts';
import { hold } from './rtc-hold.ts';
import type { loadRtc } from './webrtc.ts';

export type Rtc = Awaited<ReturnType<typeof loadRtc>>;

export interface RtcSettings {
  /** `stun:HOST:PORT` or `turn:HOST:PORT`, the latter with credentials. */
  ice: readonly { url: string; username?: string | undefined; password?: string | undefined }[];
  /** The only local address to offer; empty: all of this machine's. */
  bindAddress: string;
  /** Connect only through TURN servers: no other candidate is sent or accepted. */
  relayOnly: boolean;
}

/** For RTP packets of Opus. */
export interface SoundForm {
  payloadType: number;
  ssrc: number;
}

/**
 * Why a description was not accepted. `peer-failed`: the connection failed meanwhile, open another. Its library
 * starts ICE before it stores the description; if this thread then stands still for about a millisecond, the
 * DTLS handshake of a near peer finds no fingerprint to compare with, and fails (libdatachannel 0.24, 1 in 500
 * connections on a busy machine).
 */
export type NotAccepted = 'malformed' | 'peer-failed';

export const CAMERA = 'camera:';
const GATHER_MS = 3000;
const MAX_SDP = 16 * 1024;
let peers = 0;

/** A peer connection whose descriptions carry all candidates, so one request and one answer are enough. */
export class RtcPeer {
  // node-datachannel closes what is garbage-collected: this is held as long as the peer.
  readonly connection: PeerConnection;
  readonly #gathered: Promise<void>;
  readonly #allowed: (sdp: string) => string;
  /** Of an offer, until the answer was accepted. */
  #candidates: IceCandidate[] = [];
  #closed = false;

  constructor(rtc: Rtc, name: string, settings: RtcSettings, failed: (why: string) => void) {
    const { ice, bindAddress, relayOnly } = settings;
    this.#allowed = relayOnly ? relayedOnly : (sdp) => sdp;
    this.connection = new rtc.PeerConnection(`${name}-${++peers}`, {
      iceServers: ice.map(nativeIce),
      iceTransportPolicy: relayOnly ? 'relay' : 'all',
      ...(bindAddress === '' ? {} : { bindAddress }),
    });
    this.#gathered = new Promise((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS);
      timer.unref();
      this.connection.onGatheringStateChange((state) => {
        if (state !== 'complete') return;
        clearTimeout(timer);
        resolve();
      });
    });
    this.connection.onStateChange((state) => {
      if (state === 'failed' || state === 'closed') failed(`the peer connection ${state}`);
    });
  }

  /** Null until measured. */
  get rttMs(): number | null {
    const ms = this.#closed ? 0 : this.connection.rtt();
    return ms > 0 ? ms : null;
  }

  /** How the two ends reach each other: `host`, `srflx`, `prflx` or `relay`; empty until connected. */
  get path(): string {
    const pair = this.#closed ? null : this.connection.getSelectedCandidatePair();
    if (!pair) return '';
    return pair.remote.type === 'relay' ? 'relay' : pair.local.type;
  }

  /** The local description, once its candidates are known. */
  async description(): Promise<string> {
    await this.#gathered;
    return this.#allowed(this.connection.localDescription()?.sdp ?? '');
  }

  /** Sets the remote description. Null: done. Checks of an offer's addresses start with `begin`. */
  accept(sdp: string, type: 'offer' | 'answer'): NotAccepted | null {
    if (sdp.length > MAX_SDP) return 'malformed';
    const allowed = this.#allowed(withoutLocalNames(sdp));
    try {
      if (type === 'answer') this.connection.setRemoteDescription(allowed, type);
      else {
        const { sdp: description, candidates } = splitCandidates(allowed);
        this.#candidates = candidates;
        this.connection.setRemoteDescription(description, type);
      }
      return null;
    } catch {
      return this.#hasFailed() ? 'peer-failed' : 'malformed';
    }
  }

  /** The other side has accepted the answer. */
  begin(): void {
    for (const { candidate, mid } of this.#candidates.splice(0))
      if (!this.#hasFailed()) this.connection.addRemoteCandidate(candidate, mid);
  }

  #hasFailed(): boolean {
    try {
      return ['failed', 'closed'].includes(this.connection.state());
    } catch {
      return true;
    }
  }

  /** Call before creating the first channel, which makes the offer. */
  addSound(rtc: Rtc, { payloadType, ssrc }: SoundForm): Track {
    const audio = new rtc.Audio('audio', 'SendOnly');
    audio.addOpusCodec(payloadType);
    audio.addSSRC(ssrc, 'farhand', 'robot', 'robot-sound');
    const track = this.connection.addTrack(audio);
    hold(track);
    return track;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.connection.close();
  }
}

/** False: it is not open, or closed meanwhile. */
export function sendRtp(track: Track | null, rtp: Uint8Array): boolean {
  try {
    const bytes = Buffer.from(rtp.buffer, rtp.byteOffset, rtp.length);
    return track?.isOpen() === true && track.sendMessageBinary(bytes);
  } catch {
    return false;
  }
}

/**
 * A browser hides its addresses behind names that only its own network resolves; its checks reach us without
 * them.
 */
const withoutLocalNames = (sdp: string): string =>
  sdp
    .split('\r\n')
    .filter((line) => !/^a=candidate:.*\.local\b/.test(line))
    .join('\r\n');

function nativeIce({ url, username, password }: RtcSettings['ice'][number]): string | NativeIce {
  const [kind, hostname = '', port] = url.split(':');
  if (kind !== 'turn') return url;
  return { hostname, port: Number(port), relayType: 'TurnUdp', username: username!, password: password! };
}
