import type { CalibrationPose } from './calibration.ts';

/** What the person is asked to do. */
export const POSE_PROMPTS: Readonly<Record<CalibrationPose, string>> = {
  open: 'Hold your hand flat and open, fingers together.',
  fist: 'Make a fist, the thumb over the fingers.',
  index: 'Touch your index fingertip with your thumb.',
  middle: 'Touch your middle fingertip with your thumb.',
  ring: 'Touch your ring fingertip with your thumb.',
  pinky: 'Touch the tip of your little finger with your thumb.',
};
/** Time to take a pose, and to hold it. */
export const READY_S = 1.5;
export const HOLD_S = 2;
