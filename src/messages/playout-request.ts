/** How the operator wants playout to trade delay against smoothness. */
export const PLAYOUT_QUALITIES = ['smooth', 'balanced', 'fast'] as const;
export type PlayoutQuality = (typeof PLAYOUT_QUALITIES)[number];

/** Modes of playout between which an operator may switch where the robot allows it. */
export const PLAYOUT_MODES = ['none', 'fixed', 'adaptive'] as const;
export type PlayoutMode = (typeof PLAYOUT_MODES)[number];

/** What the operator asks of the robot's playout; null requests nothing. */
export interface PlayoutRequest {
  quality: PlayoutQuality | null;
  /** Most delay above the least the link has. */
  capMs: number | null;
  /** Heeded only by a robot that tells its playout in its state; absent is null. */
  mode?: PlayoutMode | null;
}
