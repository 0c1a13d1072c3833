import { BAD_TICKS, THRESHOLD_MS, WINDOW_TICKS } from '../../src/core/statistics/smoothness.ts';
import type { Applied } from '../../src/robot/playout/replay/replay.ts';
import { effectiveLatencyMs, steadyTargetsMs } from '../../src/robot/playout/replay/score.ts';
import type { DelayTrace } from '../../src/robot/playout/replay/trace.ts';

/** Left out, as by the score. */
const FIRST_TICK = 1000;
/** Late commands closer together than this belong to one spell: a delay may grow by 8 ms in that time. */
const SPELL_TICKS = 8;

/** The late commands of each bad second, as ticks; every second is looked at once. */
export function lateInBadSeconds(trace: DelayTrace, applied: Applied): number[][] {
  const latencyMs = effectiveLatencyMs(trace, applied.applyUs);
  const targetMs = steadyTargetsMs(trace, applied, latencyMs).at(-1)!;
  const seconds: number[][] = [];
  for (let from = FIRST_TICK; from + WINDOW_TICKS <= latencyMs.length; from += WINDOW_TICKS) {
    const late: number[] = [];
    for (let i = from; i < from + WINDOW_TICKS; i++)
      if (Math.abs(latencyMs[i]! - targetMs[i]!) > THRESHOLD_MS) late.push(i);
    if (late.length >= BAD_TICKS) seconds.push(late);
  }
  return seconds;
}

/** Whether one spell alone makes the second bad: no policy can react within it. */
export function isOneSpell(late: readonly number[]): boolean {
  let inSpell = 1;
  for (let k = 1; k < late.length; k++) {
    inSpell = late[k]! - late[k - 1]! <= SPELL_TICKS ? inSpell + 1 : 1;
    if (inSpell >= BAD_TICKS) return true;
  }
  return false;
}
