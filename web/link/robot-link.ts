import type { LinkRequest, ReplayRequest } from '../../src/messages/console.ts';
import type { AccessMessage, AccessRequest } from '../../src/messages/console-access.ts';
import type { FleetMessage } from '../../src/messages/fleet-console.ts';
import type { DeskRequest } from '../../src/messages/telemetry.ts';
import type { FleetLink } from './fleet-link.ts';
import type { LinkHandlers, LinkStatus, PageLink, PictureSource } from './page-link.ts';
import { receiveText } from './receive-text.ts';
import { type RobotPath, RobotPeer } from './robot-peer.ts';
import { VideoListeners } from './video-listeners.ts';

const SILENCE_MS = 4000;
/** From the accepted answer to the first open channel. A TURN path takes a second or two. */
const OPEN_MS = 10_000;
/** The robot first starts its operator process, which takes some seconds; the robot gives up after 60. */
const READY_MS = 65_000;
const FIRST_RETRY_MS = 400;
const MAX_RETRY_MS = 4000;
const PATH_MS = 1000;
/** The robot list lags the robot's answer by about a second. */
const REPORT_MS = 2000;
/** Do not retry: it would fail again, or take the robot from another user. */
const FINAL = ['lease-held', 'viewer'];

export interface RobotLinkHandlers extends LinkHandlers {
  onPath(path: RobotPath | null): void;
  onSound(stream: MediaStream): void;
}

/**
 * Drives a fleet robot from this page. The console holds the lease while the page's socket is open; everything else goes
 * peer to peer. Reconnects on its own, unless another user holds the lease.
 */
export class RobotLink implements PageLink, PictureSource {
  status: LinkStatus = 'connecting';
  onAccess: (message: AccessMessage) => void = () => {};
  /** Why there is no session; empty during a session or when unknown. */
  problem = '';
  /** No automatic retry: only `connect` starts again. */
  isOver = false;
  readonly robot: string;
  readonly #fleet: FleetLink;
  readonly #handlers: RobotLinkHandlers;
  readonly #pictures = new Map<string, Set<(jpeg: ArrayBuffer) => void>>();
  readonly #videos = new VideoListeners();
  #peer: RobotPeer | null = null;
  #attempt = 0;
  #retryMs = FIRST_RETRY_MS;
  #retryTimer = 0;
  #silenceTimer = 0;
  #stopping = false;
  /** When the robot last confirmed over the broker that it stopped, since the last e-stop. */
  #stoppedMs = Number.NEGATIVE_INFINITY;

  constructor(fleet: FleetLink, robot: string, handlers: RobotLinkHandlers) {
    this.robot = robot;
    this.#fleet = fleet;
    this.#handlers = handlers;
    fleet.onStatus((status) => this.#fleetChanged(status));
    fleet.onMessage((message) => this.#receiveFleet(message));
    setInterval(() => void this.#updatePath(), PATH_MS);
    window.addEventListener('pagehide', () => this.#close());
    window.addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
  }

  connect(): void {
    this.isOver = false;
    this.#begin(false);
    if (this.#fleet.status === 'closed') this.#fleet.connect();
  }

  /** Sends an e-stop over every available path; duplicates are harmless. */
  send(request: DeskRequest | LinkRequest | ReplayRequest): boolean {
    const text = JSON.stringify(request);
    const sent = this.#peer?.sendReliable(text) ?? false;
    if (request.kind !== 'estop') return sent;
    this.#peer?.sendUnreliable(text);
    return this.#stopOverBroker() || sent;
  }

  /** Without a session: the robot's answer to an e-stop, then its state in the fleet list. Others may reset it. */
  isReportedStopped(nowMs: number): boolean {
    if (this.status === 'open' || this.#stoppedMs < 0) return false;
    if (nowMs - this.#stoppedMs < REPORT_MS) return true;
    const row = this.#fleet.status === 'open' ? this.#fleet.robots.get(this.robot) : undefined;
    return row !== undefined && row.goneForMs === null && row.state === 'stopped';
  }

  sendAccess(message: AccessRequest): void {
    this.#peer?.sendReliable(JSON.stringify(message));
  }

  sendUnreliable(request: DeskRequest): boolean {
    return this.#peer?.sendUnreliable(JSON.stringify(request)) ?? false;
  }

  sendBytes(bytes: Uint8Array<ArrayBuffer>): void {
    this.#peer?.sendUnreliable(bytes);
  }

  onPicture(camera: string, listener: (jpeg: ArrayBuffer) => void): void {
    const listeners = this.#pictures.get(camera) ?? new Set();
    listeners.add(listener);
    this.#pictures.set(camera, listeners);
  }

  onVideo(video: string, listener: (stream: MediaStream | null) => void): void {
    this.#videos.add(video, listener);
  }

  /** For tests: drops the connection and opens a new session. */
  dropPeer(): void {
    this.#failed('connection lost');
  }

  #stopOverBroker(): boolean {
    if (this.#fleet.status !== 'open') return false;
    if (this.#stopping) return true;
    this.#stopping = true;
    this.#stoppedMs = Number.NEGATIVE_INFINITY;
    void this.#fleet.request({ kind: 'estop', robot: this.robot }).then(({ ok }) => {
      this.#stopping = false;
      if (ok) this.#stoppedMs = performance.now();
    });
    return true;
  }

  #begin(retry: boolean): void {
    clearTimeout(this.#retryTimer);
    this.#drop();
    this.#setStatus('connecting');
    if (this.#fleet.status === 'open') void this.#open(++this.#attempt, retry);
  }

  /** A newer attempt cancels this one. */
  async #open(attempt: number, retry: boolean): Promise<void> {
    const isOld = () => attempt !== this.#attempt;
    const { robot } = this;
    const { ok, text, code, offer } = await this.#fleet.request({ kind: 'open', robot, retry });
    if (isOld()) return;
    if (!ok || offer === undefined) return this.#failed(text, FINAL.includes(code ?? ''));
    const peer = new RobotPeer(offer, {
      text: (text, channel) => this.#receive(text, channel),
      picture: (camera, jpeg) => {
        for (const listener of this.#pictures.get(camera) ?? []) listener(jpeg);
      },
      sound: (stream) => this.#handlers.onSound(stream),
      video: (name, stream) => this.#videos.begin(name, stream),
      opened: () => this.#opened(),
      closed: (why) => this.#failed(why),
    });
    this.#peer = peer;
    try {
      const sdp = await peer.answer(offer.sdp);
      if (isOld()) return;
      const { session } = offer;
      const accepted = await this.#fleet.request({ kind: 'answer', robot, session, sdp });
      if (isOld()) return;
      if (!accepted.ok) this.#failed(accepted.text);
      else {
        peer.begin();
        this.#watchSilence(OPEN_MS, 'no network path to the robot');
      }
    } catch (error) {
      if (!isOld()) this.#failed((error as Error).message);
    }
  }

  #opened(): void {
    this.problem = '';
    this.#retryMs = FIRST_RETRY_MS;
    this.#watchSilence(READY_MS);
    this.#setStatus('open');
  }

  #receive(text: string, channel: string): void {
    if (this.status === 'open') this.#watchSilence();
    if (text.startsWith('{"kind":"ended"')) return this.#failed(endedReason(text));
    receiveText(text, {
      onMessage: (message) => this.#handlers.onMessage(message),
      onAccess: (message) => this.onAccess(message),
      // Reply on the same channel, because the probe measures that channel.
      answer: (message) => {
        const answer = JSON.stringify(message);
        if (channel === 'poses') this.#peer?.sendUnreliable(answer);
        else this.#peer?.sendReliable(answer);
      },
    });
  }

  #receiveFleet(message: FleetMessage): void {
    if (message.kind === 'lease-over' && message.robot === this.robot) this.#failed(message.why, true);
    // Another user handed the robot over.
    else if (message.kind === 'answered' && message.robot === this.robot && message.outcome === 'yes')
      this.connect();
  }

  /** Without the console the session continues until the lease expires and the robot ends it. */
  #fleetChanged(status: LinkStatus): void {
    if (status === 'open' && !this.isOver) this.#begin(false);
  }

  #watchSilence(ms = SILENCE_MS, why = 'no data from the robot'): void {
    clearTimeout(this.#silenceTimer);
    this.#silenceTimer = window.setTimeout(() => this.#failed(why), ms);
  }

  #failed(why: string, isOver = false): void {
    this.#attempt++;
    this.#drop();
    this.problem = why;
    this.isOver = isOver;
    this.#setStatus('closed');
    clearTimeout(this.#retryTimer);
    if (isOver) return;
    this.#retryTimer = window.setTimeout(() => this.#begin(true), this.#retryMs);
    this.#retryMs = Math.min(MAX_RETRY_MS, this.#retryMs * 1.6);
  }

  #drop(): void {
    clearTimeout(this.#silenceTimer);
    this.#peer?.close();
    this.#peer = null;
    this.#videos.end();
  }

  #close(): void {
    this.#attempt++;
    this.isOver = true;
    clearTimeout(this.#retryTimer);
    this.#drop();
    this.#fleet.close();
  }

  async #updatePath(): Promise<void> {
    this.#handlers.onPath(this.status === 'open' ? ((await this.#peer?.path()) ?? null) : null);
  }

  #setStatus(status: LinkStatus): void {
    this.status = status;
    this.#handlers.onStatus(status);
  }
}

/** Why the robot ended the session. */
const endedReason = (text: string): string => (JSON.parse(text) as { reason: string }).reason;
