import { percentiles } from '../../src/core/statistics/percentiles.ts';
import { wilson } from '../../src/core/statistics/wilson.ts';
import type { Trial, TrialSettings } from './trial.ts';

/** One task over one link with one playout. */
export type CellSettings = Omit<TrialSettings, 'seed'>;

export interface Cell extends CellSettings {
  seeds: number;
  successes: number;
  wilson95: [number, number];
  /** Of the successes. */
  medianS: number | null;
  dropsPerTrial: number;
  collisionsPerTrial: number;
}

export function cellOf(settings: CellSettings, trials: readonly Trial[]): Cell {
  const done = trials.filter(({ success }) => success);
  const { low, high } = wilson(done.length, trials.length);
  const mean = (value: (trial: Trial) => number) =>
    Number((trials.reduce((sum, trial) => sum + value(trial), 0) / trials.length).toFixed(2));
  return {
    ...settings,
    ...{ seeds: trials.length, successes: done.length },
    wilson95: [Number(low.toFixed(3)), Number(high.toFixed(3))],
    medianS: percentiles(done.map(({ timeS }) => timeS))?.p50 ?? null,
    dropsPerTrial: mean(({ drops }) => drops),
    collisionsPerTrial: mean(({ collisions }) => collisions),
  };
}

export const HEAD =
  'task    link          playout     success        95 % interval    median s   drops   collisions';

export function cellText(cell: Cell): string {
  const [low, high] = cell.wilson95.map((rate) => `${(100 * rate).toFixed(0)} %`);
  return [
    cell.task.padEnd(8),
    cell.link.padEnd(14),
    cell.playout.padEnd(12),
    `${cell.successes} of ${cell.seeds}`.padEnd(15),
    `${low} to ${high}`.padEnd(17),
    (cell.medianS?.toFixed(1) ?? '–').padStart(8),
    cell.dropsPerTrial.toFixed(2).padStart(8),
    cell.collisionsPerTrial.toFixed(2).padStart(13),
  ].join('');
}

/** A playout that is worse than the best of its task and link: fewer successes, beyond what chance explains. */
export function beaten(cells: readonly Cell[], playout: string): { cell: Cell; by: Cell }[] {
  return cells
    .filter((cell) => cell.playout === playout)
    .flatMap((cell) => {
      const rivals = cells.filter(
        (other) =>
          other.task === cell.task && other.link === cell.link && other.wilson95[0] > cell.wilson95[1],
      );
      return rivals.length === 0 ? [] : [{ cell, by: rivals[0]! }];
    });
}
