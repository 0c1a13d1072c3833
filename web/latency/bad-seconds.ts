import type { ClosedCommand } from '../../src/core/telemetry.ts';

/** As docs/playout.md counts: a second with 6 of 100 commands more than 10.5 ms off the steady delay stutters. */
const OFF_MS = 10.5;
const BAD_SHARE = 0.06;
const FEWEST = 20;
const HALF = 10;

export interface BadSecond {
  fromS: number;
  toS: number;
}

/** Seconds of the operator's clock, each judged by itself; a running median of 21 commands is the steady delay. */
export function badSeconds(commands: readonly ClosedCommand[], from = 0): BadSecond[] {
  const applied = commands.slice(from).filter(({ oneWayMs }) => oneWayMs !== null);
  const found: BadSecond[] = [];
  const near: number[] = [];
  let [second, total, off] = [Number.NaN, 0, 0];
  const close = () => {
    if (total >= FEWEST && off / total >= BAD_SHARE) found.push({ fromS: second, toS: second + 1 });
  };
  applied.forEach((command, i) => {
    const at = Math.floor(command.atS);
    if (at !== second) {
      close();
      [second, total, off] = [at, 0, 0];
    }
    near.length = 0;
    for (let j = Math.max(0, i - HALF); j <= Math.min(applied.length - 1, i + HALF); j++)
      near.push(applied[j]!.oneWayMs!);
    near.sort((a, b) => a - b);
    total++;
    if (Math.abs(command.oneWayMs! - near[near.length >> 1]!) > OFF_MS) off++;
  });
  close();
  return found;
}
