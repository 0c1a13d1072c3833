/** Most pictures that may be in flight. */
const MOST = 16;
/**
 * Delay, and share of it, that pictures may add to the path's least delay: more means that they queue
 * somewhere. The share allows for congestion control, which needs several round trips for a picture.
 */
const QUEUED_NS = 50e6;
const QUEUED_SHARE = 0.5;
/** An echo this much later than the least delay was lost. */
const LOST_NS = 500e6;
/** How fast the least delay is forgotten, per echo. */
const FORGET = 1e-3;
const SHRINK = 0.7;
/** Echoes to wait after a late one before sending more again. */
const PATIENCE = 4;

export interface PictureRoute {
  send(camera: string, jpeg: Uint8Array): void;
  /** A probe sent behind the picture, which the page answers at once. */
  probe(t0Ns: number): void;
}

/**
 * Sends pictures to a page, only the newest of each camera. The sender cannot see how much a peer connection
 * buffers: up to a megabyte, which is seconds on a slow path, and all other messages to the page wait behind
 * it. So a probe follows each picture, and its echo shows when the next may be sent. No socket and no clock.
 */
export class PictureLine {
  readonly #route: PictureRoute;
  /** In the order of arrival. */
  readonly #waiting = new Map<string, Uint8Array>();
  /** When the unanswered probes were sent, oldest first. */
  readonly #underwayNs: number[] = [];
  #size = 1;
  #patience = 0;
  #leastNs = Number.POSITIVE_INFINITY;
  #delayNs = 0;
  #shrunkNs = Number.NEGATIVE_INFINITY;
  readonly counts = { sent: 0, dropped: 0 };

  constructor(route: PictureRoute) {
    this.#route = route;
  }

  /** The last picture took much longer than the least delay, or is still in flight after that. */
  isCrowded(nowNs: number): boolean {
    const [oldestNs = nowNs] = this.#underwayNs;
    return Math.max(this.#delayNs, nowNs - oldestNs) > this.#leastNs + 2 * QUEUED_NS;
  }

  offer(camera: string, jpeg: Uint8Array, nowNs: number): void {
    if (this.#waiting.has(camera)) this.counts.dropped++;
    this.#waiting.set(camera, jpeg);
    this.#giveUp(nowNs);
    this.#pump(nowNs);
  }

  /** The page answered the probe sent at `t0Ns`; answers to other probes are ignored. */
  answered(t0Ns: number, nowNs: number): void {
    const place = this.#underwayNs.indexOf(t0Ns);
    if (place < 0) return;
    this.#underwayNs.splice(0, place + 1);
    this.#learn(nowNs - t0Ns, nowNs);
    this.#pump(nowNs);
  }

  #learn(delayNs: number, nowNs: number): void {
    this.#delayNs = delayNs;
    this.#leastNs = Math.min(delayNs, this.#leastNs + (delayNs - this.#leastNs) * FORGET || delayNs);
    if (delayNs <= this.#leastNs * (1 + QUEUED_SHARE) + QUEUED_NS) {
      if (--this.#patience < 0 && this.#waiting.size > 0) this.#size = Math.min(MOST, this.#size + 1);
    } else if (nowNs - this.#shrunkNs > delayNs) {
      this.#size = Math.max(1, Math.floor(this.#size * SHRINK));
      this.#shrunkNs = nowNs;
      this.#patience = PATIENCE;
    }
  }

  /** Gives up on a lost echo. */
  #giveUp(nowNs: number): void {
    const [oldestNs] = this.#underwayNs;
    if (oldestNs === undefined) return;
    const leastNs = Number.isFinite(this.#leastNs) ? this.#leastNs : LOST_NS;
    if (nowNs - oldestNs < LOST_NS + 2 * leastNs) return;
    this.#underwayNs.shift();
    this.#size = 1;
  }

  #pump(nowNs: number): void {
    while (this.#underwayNs.length < this.#size) {
      const [next] = this.#waiting;
      if (next === undefined) return;
      const [camera, jpeg] = next;
      this.#waiting.delete(camera);
      // Probes are identified by their time, so no two may share it.
      const t0Ns = Math.max(nowNs, (this.#underwayNs.at(-1) ?? 0) + 1);
      this.#underwayNs.push(t0Ns);
      this.counts.sent++;
      this.#route.send(camera, jpeg);
      this.#route.probe(t0Ns);
    }
  }
}
