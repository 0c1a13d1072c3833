import type { Figures } from './judge.ts';
import type { RigResult } from './run-rig.ts';

/** One requirement: a figure of some motions and its bound. */
export interface Row {
  name: string;
  figure: string;
  motions: readonly string[];
  /** The bound is an upper one unless `atLeast`. */
  bound: number;
  atLeast?: true;
  digits: number;
  unit: string;
  /** Only reported: there is no bound. */
  open?: true;
}

const most = (name: string, motions: readonly string[], figure: string, bound: number, unit = 'mm'): Row => ({
  name,
  figure,
  motions,
  bound,
  digits: 2,
  unit,
});

const LINES = ['axis lines', 'random lines'];
const PRESSES = ['table', 'wall', 'reach'];
const TURNS = ['cone 30°', 'cone 60°', 'wrist singularity', 'full stretch'];

const pressRows = (name: string, share: number): Row[] => [
  {
    name: `press on ${name}: sideways`,
    figure: 'share',
    motions: [name],
    bound: share,
    atLeast: true,
    digits: 3,
    unit: '',
  },
  most('  inside the margin', [name], 'insideMm', name === 'reach' ? 1e9 : 0.1),
  { ...most('  free after', [name], 'freeMs', 50, 'ms'), digits: 0 },
  most('  back', [name], 'backMm', 0.5),
];

export const ROWS: readonly Row[] = [
  ...LINES.flatMap((name) => [
    most(`${name} 20 cm: off the line`, [name], 'offMm', 1),
    most('  overshoot', [name], 'beyondMm', 1),
    most('  end', [name], 'endMm', 0.5),
  ]),
  most('figure eights to 1 m/s: off the curve', ['eights'], 'offMm', 2),
  most('  share of cycles over the backlog bound', ['eights'], 'backlog', 0, ''),
  { ...most('  least lag by the velocity limits alone', ['eights'], 'leastLagS', 0, 's'), open: true },
  ...PRESSES.flatMap((name) => pressRows(name, 0.95)).filter(({ bound }) => bound < 1e9),
  ...pressRows('own base', 0.8),
  { ...most('  share of the nearest place', ['own base'], 'nearestShare', 0, ''), open: true },
  { ...most('  least time to go there', ['own base'], 'leastS', 0, 's'), open: true },
  ...pressRows('own base at 100 %', 0.8),
  most('presses: behind without a cause', [...PRESSES, 'own base', 'own base at 100 %'], 'silent', 0, ''),
  ...TURNS.flatMap((name) => [
    most(`${name}: position`, [name], 'offMm', 5),
    most('  branch changes', [name], 'branch', 0, ''),
  ]),
  most('rectangle 60 × 15 cm: back', ['rectangle'], 'backMm', 0.5),
  most('  turned', ['rectangle'], 'backDeg', 0.2, '°'),
  most('  branch changes', ['rectangle'], 'branch', 0, ''),
  most('still hand, σ 1 mm: σ of the tool', ['still'], 'sigmaMm', 0.3),
  most('steady 0.3 m/s, no playout: lag', ['steady 0.3 m/s'], 'lagMs', 10, 'ms'),
  { ...most('  lag where a limit acts', ['steady 0.3 m/s'], 'limitedLagMs', 0, 'ms'), open: true },
  { ...most('  share of the time limited', ['steady 0.3 m/s'], 'limited', 0, ''), open: true },
  { ...most('  lag with the rig’s playout', ['steady 0.3 m/s with playout'], 'lagMs', 0, 'ms'), open: true },
  most('everything: holds', [], 'holds', 0, ''),
  { ...most('  velocity, share of the limit', [], 'velocity', 1, ''), digits: 3 },
  { ...most('  acceleration', [], 'acceleration', 1, ''), digits: 3 },
  { ...most('  jerk', [], 'jerk', 1, ''), digits: 3 },
];

/** Rounding in the differences of positions. */
const ROUNDING = 1e-6;

export interface Verdict {
  row: Row;
  column: string;
  value: number;
  met: boolean;
}

/** The worst of a row's motions; without names, of all. Null: none ran. */
function worstOf(row: Row, motions: Record<string, Figures>): number | null {
  const names = row.motions.length === 0 ? Object.keys(motions) : row.motions;
  const values = names.flatMap((name) => motions[name]?.[row.figure] ?? []);
  if (values.length === 0) return null;
  return row.atLeast ? Math.min(...values) : Math.max(...values);
}

export function verdictsOf(
  results: readonly RigResult[],
  variantOf: (result: RigResult) => string,
): Verdict[] {
  return ROWS.flatMap((row) =>
    results.flatMap((result) => {
      const value = worstOf(row, result.variants[variantOf(result)] ?? {});
      if (value === null) return [];
      const met = row.atLeast ? value >= row.bound : value <= row.bound + ROUNDING;
      return [{ row, column: result.column.name, value, met: met || row.open === true }];
    }),
  );
}

export const boundText = ({ bound, atLeast, unit, open }: Row): string =>
  open ? '' : `${atLeast ? '≥' : '≤'} ${bound}${unit === '' || unit === '°' ? unit : ` ${unit}`}`;

/** One line per row, one column per rig; `!` marks what misses its bound. */
export function tableText(verdicts: readonly Verdict[], columns: readonly string[]): string {
  const cell = (row: Row, column: string): string => {
    const found = verdicts.find((verdict) => verdict.row === row && verdict.column === column);
    if (found === undefined) return '–';
    return `${found.value.toFixed(found.value >= 100 ? 0 : row.digits)}${found.met ? ' ' : '!'}`;
  };
  const head = ['', 'bound', ...columns];
  const shown = ROWS.filter((row) => verdicts.some((verdict) => verdict.row === row));
  const lines = [
    head,
    ...shown.map((row) => [row.name, boundText(row), ...columns.map((c) => cell(row, c))]),
  ];
  const widths = head.map((_, k) => Math.max(...lines.map((line) => line[k]!.length)));
  return lines
    .map((line) =>
      line.map((text, k) => (k < 2 ? text.padEnd(widths[k]!) : text.padStart(widths[k]!))).join('  '),
    )
    .join('\n');
}

export const missedText = ({ row, column, value }: Verdict): string => {
  const motion = row.motions.length === 1 ? ` (${row.motions[0]})` : '';
  return `missed  ${column}: ${row.name.trim()}${motion} ${value.toFixed(row.digits)} ${row.unit}, bound ${boundText(row)}`;
};
