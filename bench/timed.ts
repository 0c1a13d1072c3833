/** Something to time on one thread. */
export interface Timed {
  name: string;
  /** Required rate, per second; null without a requirement. */
  leastPerS: number | null;
  count: number;
  /** The work of item `i`, below `count`. */
  run(i: number): void;
  /** Share of correct results, in percent; null if results are not checked. */
  rightPercent(): number | null;
}
