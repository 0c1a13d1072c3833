import type { Percentiles } from '../src/core/statistics/percentiles.ts';

export interface TextRow {
  label: string;
  percentiles: Percentiles | null;
  /** Number of values; omitted if a row above has it. */
  count?: number;
}

/** Label, count, and the four percentiles in milliseconds to the microsecond. */
export function percentileTable(title: string, rows: readonly TextRow[]): string {
  const width = Math.max(title.length, ...rows.map(({ label }) => label.length));
  const head = `${title.padEnd(width)}${['n', 'p50', 'p95', 'p99', 'max'].map(cell).join('')}`;
  const lines = rows.map(({ label, percentiles: p, count }) => {
    const values = p === null ? ['–', '–', '–', '–'] : [p.p50, p.p95, p.p99, p.max].map((v) => v.toFixed(3));
    return `${label.padEnd(width)}${[count === undefined ? '' : String(count), ...values].map(cell).join('')}`;
  });
  return [head, ...lines].join('\n');
}

const cell = (text: string): string => text.padStart(10);

export interface Check {
  what: string;
  ok: boolean;
  /** The measured value, with the requirement. */
  found: string;
}

export const checkText = ({ what, ok, found }: Check): string =>
  `${ok ? 'ok    ' : 'FAILED'}  ${what}: ${found}`;
