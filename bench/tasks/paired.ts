import { percentiles } from '../../src/core/statistics/percentiles.ts';
import type { CellSettings } from './cell.ts';
import type { Trial } from './trial.ts';

/** Two playouts at the same seeds: how much longer the first took where both succeeded. */
export interface Paired {
  task: string;
  link: string;
  playout: string;
  than: string;
  seeds: number;
  slower: number;
  medianS: number | null;
}

/** `trialOf` finds a trial by its cell and the number of its seed. */
export function pairedTimes(
  cells: readonly CellSettings[],
  playout: string,
  seeds: number,
  trialOf: (cell: CellSettings, seed: number) => Trial | undefined,
): Paired[] {
  return cells
    .filter((cell) => cell.playout !== playout)
    .map((other) => {
      const own = { ...other, playout };
      const longerS: number[] = [];
      for (let i = 0; i < seeds; i++) {
        const [a, b] = [trialOf(own, i), trialOf(other, i)];
        if (a?.success && b?.success) longerS.push(a.timeS - b.timeS);
      }
      return {
        ...{ task: other.task, link: other.link, playout, than: other.playout },
        ...{ seeds: longerS.length, slower: longerS.filter((s) => s > 0).length },
        medianS: percentiles(longerS)?.p50 ?? null,
      };
    })
    .filter((pair) => pair.seeds > 0);
}

export const pairedText = ({ task, link, playout, than, seeds, slower, medianS }: Paired): string =>
  `${task.padEnd(8)}${link.padEnd(14)}${playout} − ${than.padEnd(10)}${(medianS ?? 0).toFixed(2).padStart(6)} s, slower in ${slower} of ${seeds}`;
