import type { RobotOffer } from '../../src/messages/fleet-console.ts';
import { type IceCandidate, splitCandidates } from '../../src/messages/session-description.ts';

export interface RobotPeerHandlers {
  /** `channel`: `page`, `news` or `poses`. */
  text(text: string, channel: string): void;
  picture(camera: string, jpeg: ArrayBuffer): void;
  sound(stream: MediaStream): void;
  video(name: string, stream: MediaStream): void;
  opened(): void;
  closed(why: string): void;
}

/** The network path between page and robot. */
export interface RobotPath {
  /** `host`, `srflx`, `prflx` or `relay`: the less direct candidate of the two ends. */
  kind: string;
  rttMs: number | null;
}

const CAMERA = 'camera:';
const VIDEO = 'video-';
const BACKED_UP_BYTES = 16 * 1024;
/** Do not wait longer for candidates. */
const GATHER_MS = 2500;
const DIRECTNESS = ['host', 'prflx', 'srflx', 'relay'];

/** One WebRTC connection to a fleet robot, which makes the offer. Not reused: a reconnect creates another. */
export class RobotPeer {
  readonly #connection: RTCPeerConnection;
  readonly #channels = new Map<string, RTCDataChannel>();
  readonly #handlers: RobotPeerHandlers;
  #candidates: IceCandidate[] = [];
  #ended = false;

  constructor({ ice }: RobotOffer, handlers: RobotPeerHandlers) {
    this.#handlers = handlers;
    const iceServers = ice.map(({ url, username, password }) => ({
      urls: url,
      ...(username === undefined ? {} : { username, credential: password ?? '' }),
    }));
    this.#connection = new RTCPeerConnection({ iceServers });
    this.#connection.ondatachannel = ({ channel }) => this.#adopt(channel);
    this.#connection.ontrack = (event) => this.#adoptTrack(event);
    this.#connection.onconnectionstatechange = () => {
      const { connectionState } = this.#connection;
      if (['failed', 'closed', 'disconnected'].includes(connectionState)) this.#end('connection lost');
    };
  }

  get isOpen(): boolean {
    return this.#channels.get('page')?.readyState === 'open';
  }

  /** Returns the answer for the robot, with all candidates. The robot's own are used from `begin` on. */
  async answer(offer: string): Promise<string> {
    const connection = this.#connection;
    const { sdp, candidates } = splitCandidates(offer);
    this.#candidates = candidates;
    await connection.setRemoteDescription({ type: 'offer', sdp });
    await connection.setLocalDescription(await connection.createAnswer());
    if (connection.iceGatheringState !== 'complete')
      await new Promise<void>((resolve) => {
        const timer = window.setTimeout(resolve, GATHER_MS);
        connection.onicegatheringstatechange = () => {
          if (connection.iceGatheringState !== 'complete') return;
          clearTimeout(timer);
          resolve();
        };
      });
    return withoutMdns(connection.localDescription?.sdp ?? '');
  }

  /** The robot has accepted the answer. */
  begin(): void {
    for (const { candidate, mid } of this.#candidates.splice(0))
      void this.#connection.addIceCandidate({ candidate, sdpMid: mid }).catch(() => {});
  }

  /** Reliable and ordered. */
  sendReliable(text: string): boolean {
    return this.#send('page', text, Number.POSITIVE_INFINITY);
  }

  /** Unreliable; dropped when the channel is backed up. */
  sendUnreliable(data: string | Uint8Array<ArrayBuffer>): boolean {
    return this.#send('poses', data, BACKED_UP_BYTES);
  }

  async path(): Promise<RobotPath | null> {
    const stats = await this.#connection.getStats();
    let pair: RTCIceCandidatePairStats | undefined;
    for (const entry of stats.values())
      if (entry.type === 'candidate-pair' && entry.nominated && entry.state === 'succeeded') pair = entry;
    if (pair === undefined) return null;
    const types = [pair.localCandidateId, pair.remoteCandidateId].map((id) =>
      String((stats.get(id) as { candidateType?: string } | undefined)?.candidateType ?? ''),
    );
    const kind = DIRECTNESS.findLast((name) => types.includes(name)) ?? '';
    const rttS = pair.currentRoundTripTime;
    return { kind, rttMs: rttS === undefined ? null : rttS * 1000 };
  }

  close(): void {
    this.#ended = true;
    this.#connection.close();
  }

  #send(label: string, data: string | Uint8Array<ArrayBuffer>, maxBytes: number): boolean {
    const channel = this.#channels.get(label);
    if (channel?.readyState !== 'open' || channel.bufferedAmount > maxBytes) return false;
    if (typeof data === 'string') channel.send(data);
    else channel.send(data);
    return true;
  }

  #adopt(channel: RTCDataChannel): void {
    const { label } = channel;
    this.#channels.set(label, channel);
    channel.binaryType = 'arraybuffer';
    channel.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (this.#ended) return;
      if (typeof data === 'string') this.#handlers.text(data, label);
      else if (label.startsWith(CAMERA)) this.#handlers.picture(label.slice(CAMERA.length), data);
    };
    channel.onclose = () => {
      if (label === 'page') this.#end('the robot ended the session');
    };
    if (label !== 'page') return;
    const opened = () => {
      channel.onopen = null;
      if (!this.#ended) this.#handlers.opened();
    };
    channel.onopen = opened;
    if (channel.readyState === 'open') opened();
  }

  #adoptTrack({ track, streams, transceiver, receiver }: RTCTrackEvent): void {
    const stream = streams[0] ?? new MediaStream([track]);
    const { mid } = transceiver;
    if (track.kind === 'audio') return this.#handlers.sound(stream);
    // Pictures are shown when they arrive, not evenly spaced.
    receiver.jitterBufferTarget = 0;
    if (mid?.startsWith(VIDEO)) this.#handlers.video(mid.slice(VIDEO.length), stream);
  }

  #end(why: string): void {
    if (this.#ended) return;
    this.close();
    this.#handlers.closed(why);
  }
}

/** Removes mDNS candidates, which the robot cannot resolve. Its checks reach the robot without them. */
const withoutMdns = (sdp: string): string =>
  sdp
    .split('\r\n')
    .filter((line) => !(line.startsWith('a=candidate:') && line.includes('.local ')))
    .join('\r\n');
