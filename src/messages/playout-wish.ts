/** How the operator wants playout to trade delay against smoothness. */
export const PLAYOUT_QUALITIES = ['smooth', 'balanced', 'fast'] as const;
export type PlayoutQuality = (typeof PLAYOUT_QUALITIES)[number];

/** Ways of playout between which an operator may switch where the robot allows it. */
export const PLAYOUT_WAYS = ['none', 'fixed', 'adaptive'] as const;
export type PlayoutWay = (typeof PLAYOUT_WAYS)[number];

/** What the operator asks of the robot's playout; null is no wish. */
export interface PlayoutWish {
  quality: PlayoutQuality | null;
  /** Most delay above the least the link has. */
  capMs: number | null;
  /** Heeded only by a robot that tells its playout in its state; absent is null. */
  way?: PlayoutWay | null;
}
