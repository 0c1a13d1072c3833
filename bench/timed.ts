/** Something to time on one thread. */
export interface Timed {
  name: string;
  /** What must hold, per second; null where nothing is promised. */
  leastPerS: number | null;
  count: number;
  /** The work of item `i`, below `count`. */
  run(i: number): void;
  /** Share of items that came out right, in percent; null where there is nothing to get wrong. */
  rightPercent(): number | null;
}
