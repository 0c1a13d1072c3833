/** How the operator wants playout to trade delay against smoothness. */
export const PLAYOUT_QUALITIES = ['smooth', 'balanced', 'fast'] as const;
export type PlayoutQuality = (typeof PLAYOUT_QUALITIES)[number];

/** Playout modes that an operator may switch between where the robot allows it. */
export const PLAYOUT_MODES = ['none', 'fixed', 'adaptive'] as const;
export type PlayoutMode = (typeof PLAYOUT_MODES)[number];

/** What the operator requests of the robot's playout; null requests nothing. */
export interface PlayoutRequest {
  quality: PlayoutQuality | null;
  /** Most delay above the link's minimum. */
  capMs: number | null;
  /** Only for a robot that reports its playout in its state; absent is null. */
  mode?: PlayoutMode | null;
}
