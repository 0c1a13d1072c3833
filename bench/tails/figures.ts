import type { Check } from '../text-table.ts';
import type { PathName, Times } from './paths.ts';

export const CONDITIONS = ['idle', 'busy'] as const;
export type Condition = (typeof CONDITIONS)[number];
const QUANTILES = [0.5, 0.99, 0.999, 0.9999, 1] as const;

export interface Row {
  path: PathName;
  condition: Condition;
  messages: number;
  /** p50, p99, p99.9, p99.99, max in milliseconds. */
  ms: number[];
}

export function rowOf(path: PathName, condition: Condition, turns: readonly Times[]): Row {
  const sorted = Float64Array.from(turns.flatMap((turn) => turn[path] ?? [])).sort();
  return { path, condition, messages: sorted.length, ms: QUANTILES.map((q) => quantileMs(sorted, q)) };
}

const quantileMs = (sorted: Float64Array, q: number): number =>
  (sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN) / 1e6;

/** Markdown, as in docs/benchmarks.md. */
export function tableLines(rows: readonly Row[]): string[] {
  const head = ['ms', 'machine', 'messages', 'p50', 'p99', 'p99.9', 'p99.99', 'max'];
  const cells = rows.map(({ path, condition, messages, ms }) => [
    path,
    condition,
    String(messages),
    ...ms.map((value) => value.toFixed(3)),
  ]);
  const widths = head.map((text, i) => Math.max(text.length, ...cells.map((row) => row[i]!.length)));
  const line = (row: readonly string[]) =>
    `| ${row.map((text, i) => (i < 2 ? text.padEnd(widths[i]!) : text.padStart(widths[i]!))).join(' | ')} |`;
  return [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...cells.map(line)];
}

/** [condition, quantile, other path, most times its value] */
const AIMS = [
  ['idle', 0.99, 'pyzmq', 0.5],
  ['busy', 0.99, 'pyzmq', 0.2],
  ['idle', 0.999, 'C floor', 2],
  ['busy', 0.999, 'C floor', 2],
] as const;

/** Each aim with the ratio over all turns, and the smallest and largest of a single turn. */
export function aims(turns: Record<Condition, readonly Times[]>): Check[] {
  return AIMS.flatMap(([condition, quantile, other, most]) => {
    const ratio = (of: readonly Times[]): number => {
      const value = (path: PathName) => rowOf(path, condition, of).ms[QUANTILES.indexOf(quantile)]!;
      return value('ours') / value(other);
    };
    const all = ratio(turns[condition]);
    if (Number.isNaN(all)) return [];
    const single = turns[condition].map((turn) => ratio([turn]));
    const range = `${Math.min(...single).toFixed(2)} … ${Math.max(...single).toFixed(2)} in single turns`;
    const what = `ours/${other}, p${100 * quantile}, ${condition}`;
    return [{ what, ok: all <= most, found: `${all.toFixed(2)} (aim ≤ ${most}; ${range})` }];
  });
}
