/**
 * Instants at a fixed rate without drift. Missed ones are skipped and counted, never caught up in a burst.
 */
export class Periodic {
  readonly periodNs: number;
  /** With a first value: V8 would allocate an object at every change of a number field that began without one. */
  nextNs = 0;
  missed = 0;

  constructor(hz: number, startNs: number) {
    this.periodNs = 1e9 / hz;
    this.nextNs = startNs;
  }

  /** True when an instant has passed; advances to the next one. */
  due(nowNs: number): boolean {
    if (nowNs < this.nextNs) return false;
    const late = Math.floor((nowNs - this.nextNs) / this.periodNs);
    this.missed += late;
    this.nextNs += (late + 1) * this.periodNs;
    return true;
  }
}
