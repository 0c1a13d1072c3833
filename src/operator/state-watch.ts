import { SnapshotBoard } from '../core/memory/snapshot.ts';
import type { StateSample } from '../messages/state-sample.ts';
import { BOARD } from './board.ts';

/** Returns the robot's state when it is newer than at the last call; null otherwise. Main thread. */
export function stateWatch(
  memory: SharedArrayBuffer,
  joints: number,
  side: StateSample['side'] | null = null,
): () => StateSample | null {
  const board = new SnapshotBoard(memory);
  const shown = BOARD.create(joints);
  let sentNs = Number.NEGATIVE_INFINITY;
  return () => {
    if (board.read(shown.packed) === null || Number.isNaN(shown.measuredRad[0])) return null;
    const { stateReceivedNs, stateRobotNs, offsetNs, externalNm, gripperN } = shown;
    if (!(stateReceivedNs > sentNs)) return null;
    sentNs = stateReceivedNs;
    const measuredNs = stateRobotNs - offsetNs;
    return {
      kind: 'state',
      ...(side === null ? {} : { side }),
      // Never later than its arrival, whatever the offset's error.
      measuredNs: Number.isFinite(measuredNs) ? Math.min(measuredNs, stateReceivedNs) : stateReceivedNs,
      state: shown.robotState,
      measuredRad: [...shown.measuredRad],
      gripper: shown.gripper,
      externalNm: Number.isNaN(externalNm[0]) ? null : [...externalNm],
      gripperN: Number.isFinite(gripperN) ? gripperN : null,
    };
  };
}

/** Of several arms, in turn. */
export function inTurn(watches: readonly (() => StateSample | null)[]): () => StateSample | null {
  let next = 0;
  return () => {
    for (let i = 0; i < watches.length; i++) {
      const state = watches[next]!();
      next = (next + 1) % watches.length;
      if (state !== null) return state;
    }
    return null;
  };
}
