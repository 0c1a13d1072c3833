import type { LinkRequest } from '../../src/messages/console.ts';
import type { AccessMessage, AccessRequest } from '../../src/messages/console-access.ts';
import type { FleetMessage } from '../../src/messages/fleet-console.ts';
import type { DeskRequest } from '../../src/messages/telemetry.ts';
import type { FleetLink } from './fleet-link.ts';
import { hearText } from './hear.ts';
import type { LinkHandlers, LinkStatus, PageLink, PictureSource } from './page-link.ts';
import { type RobotPath, RobotPeer } from './robot-peer.ts';

const SILENCE_MS = 4000;
/** From the accepted answer to the first channel: a path through TURN takes a second or two. */
const OPEN_MS = 10_000;
/** The robot first starts what drives it, which has been seen to need some seconds; it gives up itself after 20. */
const READY_MS = 25_000;
const FIRST_RETRY_MS = 400;
const LAST_RETRY_MS = 4000;
const PATH_MS = 1000;
/** The list follows a robot's answer by a second. */
const TOLD_MS = 2000;
/** Trying again would not help, or would snatch the robot from somebody: the user decides. */
const FINAL = ['lease-held', 'viewer'];

export interface RobotLinkHandlers extends LinkHandlers {
  onPath(path: RobotPath | null): void;
  onSound(stream: MediaStream): void;
}

/**
 * A robot of the fleet, driven from this page: its lease is held by the console for as long as the page's socket is open,
 * everything else goes from peer to peer. Comes back by itself, except when the lease is somebody else's.
 */
export class RobotLink implements PageLink, PictureSource {
  status: LinkStatus = 'connecting';
  onAccess: (message: AccessMessage) => void = () => {};
  /** Why there is no session, in words; empty while there is one or nothing is known. */
  problem = '';
  /** Only `connect` helps. */
  isOver = false;
  readonly robot: string;
  readonly #fleet: FleetLink;
  readonly #handlers: RobotLinkHandlers;
  readonly #pictures = new Map<string, Set<(jpeg: ArrayBuffer) => void>>();
  #peer: RobotPeer | null = null;
  #attempt = 0;
  #retryMs = FIRST_RETRY_MS;
  #retryTimer = 0;
  #silenceTimer = 0;
  #stopping = false;
  /** When the robot last said over the broker that it had stopped, since the last e-stop. */
  #stoppedMs = Number.NEGATIVE_INFINITY;

  constructor(fleet: FleetLink, robot: string, handlers: RobotLinkHandlers) {
    this.robot = robot;
    this.#fleet = fleet;
    this.#handlers = handlers;
    fleet.onStatus((status) => this.#fleetChanged(status));
    fleet.onMessage((message) => this.#hearFleet(message));
    setInterval(() => void this.#lookAtPath(), PATH_MS);
    window.addEventListener('pagehide', () => this.#leave());
    window.addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
  }

  connect(): void {
    this.isOver = false;
    this.#begin();
    if (this.#fleet.status === 'closed') this.#fleet.connect();
  }

  /** An e-stop goes by every way there is, whichever comes first; duplicates do no harm. */
  send(request: DeskRequest | LinkRequest): boolean {
    const text = JSON.stringify(request);
    const sent = this.#peer?.say(text) ?? false;
    if (request.kind !== 'estop') return sent;
    this.#peer?.sendFresh(text);
    return this.#stopOverBroker() || sent;
  }

  /** What there is without a session: the robot's answer to an e-stop, then what it tells the fleet. Others may reset it. */
  isToldStopped(nowMs: number): boolean {
    if (this.status === 'open' || this.#stoppedMs < 0) return false;
    if (nowMs - this.#stoppedMs < TOLD_MS) return true;
    const row = this.#fleet.status === 'open' ? this.#fleet.robots.get(this.robot) : undefined;
    return row !== undefined && row.goneForMs === null && row.state === 'stopped';
  }

  say(message: AccessRequest): void {
    this.#peer?.say(JSON.stringify(message));
  }

  sendFresh(request: DeskRequest): boolean {
    return this.#peer?.sendFresh(JSON.stringify(request)) ?? false;
  }

  sendBytes(bytes: Uint8Array<ArrayBuffer>): void {
    this.#peer?.sendFresh(bytes);
  }

  onPicture(camera: string, listener: (jpeg: ArrayBuffer) => void): void {
    const listeners = this.#pictures.get(camera) ?? new Set();
    listeners.add(listener);
    this.#pictures.set(camera, listeners);
  }

  /** As if the network had: another session is made. */
  dropPeer(): void {
    this.#failed('the path was lost');
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

  #begin(): void {
    clearTimeout(this.#retryTimer);
    this.#drop();
    this.#setStatus('connecting');
    if (this.#fleet.status === 'open') void this.#open(++this.#attempt);
  }

  /** Attempts that something newer has overtaken do nothing more. */
  async #open(attempt: number): Promise<void> {
    const isOld = () => attempt !== this.#attempt;
    const { robot } = this;
    const { ok, text, code, offer } = await this.#fleet.request({ kind: 'open', robot });
    if (isOld()) return;
    if (!ok || offer === undefined) return this.#failed(text, FINAL.includes(code ?? ''));
    const peer = new RobotPeer(offer, {
      text: (said, channel) => this.#hear(said, channel),
      picture: (camera, jpeg) => {
        for (const listener of this.#pictures.get(camera) ?? []) listener(jpeg);
      },
      sound: (stream) => this.#handlers.onSound(stream),
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
      else this.#watchSilence(OPEN_MS, 'no way to it was found');
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

  #hear(text: string, channel: string): void {
    if (this.status === 'open') this.#watchSilence();
    if (text.startsWith('{"kind":"ended"')) return this.#failed(endedReason(text));
    hearText(text, {
      onMessage: (message) => this.#handlers.onMessage(message),
      onAccess: (message) => this.onAccess(message),
      // The way the question came, so that it is that way which is measured.
      answer: (message) => {
        const answer = JSON.stringify(message);
        if (channel === 'poses') this.#peer?.sendFresh(answer);
        else this.#peer?.say(answer);
      },
    });
  }

  #hearFleet(message: FleetMessage): void {
    if (message.kind === 'lease-over' && message.robot === this.robot) this.#failed(message.why, true);
    // Somebody handed it over.
    else if (message.kind === 'answered' && message.robot === this.robot && message.outcome === 'yes')
      this.connect();
  }

  /** Without the console the session goes on until the robot ends it, for want of a lease. */
  #fleetChanged(status: LinkStatus): void {
    if (status === 'open' && !this.isOver) this.#begin();
  }

  #watchSilence(ms = SILENCE_MS, why = 'the robot fell silent'): void {
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
    this.#retryTimer = window.setTimeout(() => this.#begin(), this.#retryMs);
    this.#retryMs = Math.min(LAST_RETRY_MS, this.#retryMs * 1.6);
  }

  #drop(): void {
    clearTimeout(this.#silenceTimer);
    this.#peer?.close();
    this.#peer = null;
  }

  #leave(): void {
    this.#attempt++;
    this.isOver = true;
    clearTimeout(this.#retryTimer);
    this.#drop();
    this.#fleet.leave();
  }

  async #lookAtPath(): Promise<void> {
    this.#handlers.onPath(this.status === 'open' ? ((await this.#peer?.path()) ?? null) : null);
  }

  #setStatus(status: LinkStatus): void {
    this.status = status;
    this.#handlers.onStatus(status);
  }
}

/** The robot's last word of a session. */
const endedReason = (text: string): string => (JSON.parse(text) as { reason: string }).reason;
