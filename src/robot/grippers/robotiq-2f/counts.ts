/** Both protocols: 0 is open, 255 closed; the fingers touch their ends before that. */
const FULL = 255;

export interface CountRange {
  openCount: number;
  closedCount: number;
}

/** The ends are commanded in full, so that a closed gripper squeezes. */
export function toCount(position: number, { openCount, closedCount }: CountRange): number {
  if (position <= 0) return 0;
  if (position >= 1) return FULL;
  return Math.round(openCount + position * (closedCount - openCount));
}

export const toPosition = (count: number, { openCount, closedCount }: CountRange): number =>
  Math.max(0, Math.min(1, (count - openCount) / (closedCount - openCount)));

export const percentCount = (percent: number): number => Math.round((percent / 100) * FULL);

/** `gSTA`: activation is complete. */
export const ACTIVATED = 3;

/** Codes from 8 on end its motion; 5 and 7 only say that it is not activated. */
const FAULTS: Record<number, string> = {
  8: 'it is too hot: let it cool below 80 °C',
  9: 'it lost its connection',
  10: 'its supply voltage is too low',
  11: 'automatic release in progress',
  12: 'internal fault: contact Robotiq',
  13: 'activation failed: remove what blocks the fingers',
  14: 'overcurrent',
  15: 'automatic release completed: activate it again',
};

/** As text; empty if it can move. */
export const faultText = (code: number): string => (code < 8 ? '' : (FAULTS[code] ?? `fault ${code}`));

export const NOT_ACTIVATED =
  'it is not activated: activate it on the pendant, or set robot.gripperOptions.activate=true (the fingers then close and open once)';
