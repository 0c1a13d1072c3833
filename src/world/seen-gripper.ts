import { PARTNER } from './partner-arm.ts';
import type { WorldBody } from './shape.ts';
import type { WorldView } from './task.ts';

/** A gripper as others see it: by its fingers, which are among the bodies. */
export interface SeenGripper {
  xM: number;
  yM: number;
  openM: number;
}

/** Of the second arm of a scene, or of the first with an empty prefix. */
export function seeGripper(view: WorldView, prefix: '' | typeof PARTNER): SeenGripper {
  const [left, right] = [view.see(`${prefix}fingerL`), view.see(`${prefix}fingerR`)];
  return {
    xM: (left.xM + right.xM) / 2,
    yM: (left.yM + right.yM) / 2,
    openM: Math.hypot(left.xM - right.xM, left.yM - right.yM, left.zM - right.zM),
  };
}

/** Fingers of both arms as bodies that others see. Nothing is drawn: the arms are. */
export const seenFingers = (): WorldBody[] =>
  ['', PARTNER].flatMap((prefix) =>
    ['fingerL', 'fingerR'].map((name) => ({ name: prefix + name, isPartner: true as const, shapes: [] })),
  );
