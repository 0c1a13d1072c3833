/** Pictures that may be under way at most. */
const MOST = 16;
/**
 * Pictures may add this much, and this share, to the least delay of the way: what takes longer is in somebody's queue.
 * The share is for congestion control, which needs some round trips for a picture.
 */
const QUEUED_NS = 50e6;
const QUEUED_SHARE = 0.5;
/** An echo that has not come by then, beyond the least delay, was lost. */
const LOST_NS = 500e6;
/** How fast the least delay is forgotten, per echo. */
const FORGET = 1e-3;
const SHRINK = 0.7;
/** So many echoes after one that was late, more is tried again. */
const PATIENCE = 4;

export interface PictureRoute {
  send(camera: string, jpeg: Uint8Array): void;
  /** A question that the page answers at once, behind the picture. */
  probe(t0Ns: number): void;
}

/**
 * Pictures on their way to a page, the newest of each camera only. How much a peer connection holds back cannot be seen
 * from its sender: a megabyte, seconds on a slow way, and behind it waits all else that the page is to hear. So behind
 * each picture goes a probe, and its echo tells when the next may leave. No socket and no clock.
 */
export class PictureLine {
  readonly #route: PictureRoute;
  /** In the order in which they came to wait. */
  readonly #waiting = new Map<string, Uint8Array>();
  /** When the probes left that are not answered, oldest first. */
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

  /** What was sent last took much longer than it had to, or has not come yet. */
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

  /** The page answered to the probe that left at `t0Ns`; answers to others say nothing. */
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

  /** An echo may be lost, and is waited for no longer than makes sense. */
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
      // Two at once would be one question.
      const t0Ns = Math.max(nowNs, (this.#underwayNs.at(-1) ?? 0) + 1);
      this.#underwayNs.push(t0Ns);
      this.counts.sent++;
      this.#route.send(camera, jpeg);
      this.#route.probe(t0Ns);
    }
  }
}
