import type { AccessMessage } from '../messages/console-access.ts';
import { ClockSync } from '../wire/clock-sync.ts';
import { DataPeer, loadRtc } from '../wire/transports/webrtc.ts';
import type { PageRequest } from './page-requests.ts';

/** A peer connection to a page. */
export interface PathPeer {
  readonly open: boolean;
  /** Over the unreliable channel. */
  send(text: string): boolean;
  accept(signal: unknown): boolean;
  close(): void;
}

export interface PathOptions {
  /** Over the page's WebSocket. */
  send(message: AccessMessage): void;
  /** Receives what arrived over a data channel, as if over the WebSocket. */
  message(data: string | Uint8Array): void;
  nowNs(): number;
  rtcAddress: string;
  warn(text: string): void;
  /** An existing peer connection, used instead of a new one. */
  peer?: PathPeer;
}

/** Most probes that may still be answered. */
const OPEN_PROBES = 16;
/** Shortest interval at which a page may request a new peer connection. */
const RESTART_NS = 1e9;

/** The path between one page and the console: its clock, and a peer connection if the page requests one. */
export class HeadsetPath {
  readonly #options: PathOptions;
  readonly #clock = new ClockSync();
  readonly #probes: number[] = [];
  #peer: PathPeer | null;
  #startedNs = Number.NEGATIVE_INFINITY;
  #bestNs = Number.NaN;
  #closed = false;

  constructor(options: PathOptions) {
    this.#options = options;
    this.#peer = options.peer ?? null;
  }

  /** NaN before the first exchange. */
  toOperatorNs(pageNs: number): number {
    return this.#clock.toOperatorNs(pageNs);
  }

  /** Of `toOperatorNs`. */
  get uncertaintyNs(): number {
    return this.#clock.uncertaintyNs;
  }

  /** False: the message is not about the path. */
  receive(message: PageRequest, receivedNs: number): boolean {
    if (message.kind === 'probed') this.#probed(message, receivedNs);
    else if (message.kind === 'rtc-start') void this.#start();
    else if (message.kind === 'rtc') this.#peer?.accept(message.signal);
    else return false;
    return true;
  }

  /** Reads the page's clock over the path that its poses take. */
  probe(): void {
    const probe = { kind: 'probe' as const, t0: this.#options.nowNs() };
    this.#probes.push(probe.t0);
    if (this.#probes.length > OPEN_PROBES) this.#probes.shift();
    if (!this.#peer?.send(JSON.stringify(probe))) this.#options.send(probe);
  }

  /**
   * Called four times a second. Probes the WebSocket too, once a second: it is what shows that the page is
   * alive.
   */
  tick(count: number): void {
    if (this.#peer?.open || count % 2 === 0) this.probe();
    if (count % 4 !== 0) return;
    if (this.#peer?.open) {
      const t0 = this.#options.nowNs();
      this.#probes.push(t0);
      this.#options.send({ kind: 'probe', t0 });
    }
    const { synchronized, uncertaintyNs } = this.#clock;
    this.#options.send({
      kind: 'path',
      over: this.#peer?.open ? 'webrtc' : 'websocket',
      rttMs: synchronized ? this.#bestNs / 1e6 : null,
      uncertaintyMs: synchronized ? uncertaintyNs / 1e6 : null,
    });
  }

  close(): void {
    this.#closed = true;
    this.#peer?.close();
    this.#peer = null;
  }

  #probed({ t0, t1, t2 }: { t0: number; t1: number; t2: number }, receivedNs: number): void {
    const place = this.#probes.indexOf(t0);
    if (place < 0) return;
    this.#probes.splice(place, 1);
    if (this.#clock.add(t0, t1, t2, receivedNs)) this.#bestNs = receivedNs - t0 - (t2 - t1);
  }

  async #start(): Promise<void> {
    const nowNs = this.#options.nowNs();
    if (this.#options.peer !== undefined || nowNs - this.#startedNs < RESTART_NS) return;
    this.#startedNs = nowNs;
    this.#peer?.close();
    this.#peer = null;
    try {
      const rtc = await loadRtc();
      if (this.#closed) return;
      this.#peer = new DataPeer(rtc, this.#options.rtcAddress, {
        signal: (signal) => this.#options.send({ kind: 'rtc', signal }),
        message: (data) => this.#options.message(data),
        changed: () => this.tick(4),
      });
    } catch (error) {
      this.#options.warn((error as Error).message);
    }
  }
}
