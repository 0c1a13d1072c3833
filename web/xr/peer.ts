import type { AccessRequest } from '../../src/messages/console-access.ts';

export interface PeerOptions {
  /** Sends over the WebSocket. */
  send(message: AccessRequest): void;
  /** Receives text from a data channel. */
  text(text: string): void;
  changed(open: boolean): void;
}

const RETRY_MS = 2000;
const GIVE_UP_MS = 8000;
const BACKED_UP_BYTES = 16 * 1024;

/** The page's end of the WebRTC connection. The console makes the offer; this end requests one until it connects. */
export class Peer {
  readonly #options: PeerOptions;
  #connection: RTCPeerConnection | null = null;
  #poses: RTCDataChannel | null = null;
  #control: RTCDataChannel | null = null;
  #askedMs = Number.NEGATIVE_INFINITY;
  #open = false;

  constructor(options: PeerOptions) {
    this.#options = options;
  }

  get open(): boolean {
    return this.#open;
  }

  /** Requests a connection if there is none. Call regularly while the WebSocket is open. */
  keep(nowMs: number): void {
    const waitMs = this.#connection === null ? RETRY_MS : GIVE_UP_MS;
    if (this.#open || nowMs - this.#askedMs < waitMs || !('RTCPeerConnection' in window)) return;
    this.#askedMs = nowMs;
    this.drop();
    this.#options.send({ kind: 'rtc-start' });
  }

  async receiveSignal(signal: unknown): Promise<void> {
    const { type, sdp, candidate, mid } = signal as Record<string, string | undefined>;
    try {
      if (type === 'offer' && sdp) await this.#answer(sdp);
      else if (candidate) await this.#connection?.addIceCandidate({ candidate, sdpMid: mid ?? '0' });
    } catch {
      this.drop();
    }
  }

  /** False: not connected. Drops the pose when the channel is backed up: a late pose is useless. */
  sendPoses(bytes: Uint8Array<ArrayBuffer>): boolean {
    if (!this.#open || this.#poses?.readyState !== 'open') return false;
    if (this.#poses.bufferedAmount > BACKED_UP_BYTES) return true;
    this.#poses.send(bytes);
    return true;
  }

  /** Sends on both channels. */
  sendText(text: string): void {
    for (const channel of [this.#poses, this.#control])
      if (channel?.readyState === 'open') channel.send(text);
  }

  /** Replies to a probe on the channel that carried it. */
  reply(text: string): void {
    if (this.#poses?.readyState === 'open') this.#poses.send(text);
  }

  async #answer(sdp: string): Promise<void> {
    this.drop();
    const connection = new RTCPeerConnection({ iceServers: [] });
    this.#connection = connection;
    connection.ondatachannel = ({ channel }) => this.#adopt(channel);
    connection.onicecandidate = ({ candidate }) => {
      if (candidate?.candidate)
        this.#options.send({
          kind: 'rtc',
          signal: { candidate: candidate.candidate, mid: candidate.sdpMid ?? '0' },
        });
    };
    connection.onconnectionstatechange = () => {
      if (['failed', 'closed', 'disconnected'].includes(connection.connectionState)) this.#lost(connection);
    };
    await connection.setRemoteDescription({ type: 'offer', sdp });
    const answer = await connection.createAnswer();
    await connection.setLocalDescription(answer);
    this.#options.send({ kind: 'rtc', signal: { type: 'answer', sdp: answer.sdp } });
  }

  #adopt(channel: RTCDataChannel): void {
    const connection = this.#connection;
    channel.binaryType = 'arraybuffer';
    if (channel.label === 'poses') this.#poses = channel;
    else this.#control = channel;
    channel.onopen = () =>
      this.#setOpen(this.#poses?.readyState === 'open' && this.#control?.readyState === 'open');
    channel.onclose = () => this.#lost(connection);
    channel.onmessage = ({ data }) => {
      if (typeof data === 'string') this.#options.text(data);
    };
    if (channel.readyState === 'open') channel.onopen(new Event('open'));
  }

  #lost(connection: RTCPeerConnection | null): void {
    if (connection !== this.#connection) return;
    this.drop();
  }

  /** Closes the connection; `keep` opens another. */
  drop(): void {
    const connection = this.#connection;
    this.#connection = this.#poses = this.#control = null;
    this.#setOpen(false);
    connection?.close();
  }

  #setOpen(open: boolean): void {
    if (open === this.#open) return;
    this.#open = open;
    this.#options.changed(open);
  }
}
