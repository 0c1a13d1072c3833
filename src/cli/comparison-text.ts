import type {
  QuantileName,
  Transport,
  TransportComparison,
  TransportFigures,
} from '../app/compare-transports.ts';
import type { Interval } from '../trace/bootstrap.ts';

const NAMES: readonly QuantileName[] = ['p50', 'p95', 'p99', 'max'];
const LABEL = 20;
const WIDTH = 31;
/** With fewer, all slices agree by chance more often than once in thirty. */
const LEAST_SLICES = 6;

/** Tables with intervals, and the conclusion. */
export function comparisonText(comparison: TransportComparison): string {
  const { slices, secondsPerSlice, transports, of, differenceMs } = comparison;
  const cell = ({ value, low, high }: Interval) =>
    `${value.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}]`.padStart(WIDTH);
  const row = (label: string, values: Record<QuantileName, Interval>) =>
    label.padEnd(LABEL) + NAMES.map((name) => cell(values[name])).join('');
  const [first, ...others] = transports;
  return [
    `${slices} slices of ${secondsPerSlice} s each; ms from sampling to the robot acting on that command or a newer one [95 %]`,
    ' '.repeat(LABEL) + NAMES.map((name) => name.padStart(WIDTH)).join(''),
    ...transports.map((name) => row(name, of[name]!.actedMs)),
    ...others.map((name) => row(`${first} − ${name}`, differenceMs[name]!)),
    '',
    ...figureLines(transports, of),
    '',
    ...others.map((name) => conclusion(first!, name, slices, differenceMs[name]!.p50)),
  ].join('\n');
}

function conclusion(first: Transport, other: Transport, slices: number, { low, high }: Interval): string {
  if (slices < LEAST_SLICES)
    return `${first}, ${other}: too few slices to tell which is faster: use --slices ${LEAST_SLICES} or more`;
  const faster = high < 0 ? first : low > 0 ? other : null;
  return faster === null
    ? `${first}, ${other}: no significant difference in the median`
    : `${first}, ${other}: ${faster} is faster in the median`;
}

export const HEADINGS = [
  'commands',
  'lost %',
  'bad seconds',
  'holds',
  'stops',
  'held back %',
  'longest on the wire ms',
  'TCP retransmissions, timeouts',
];

/** One row of figures per transport, as the cells under HEADINGS. */
export const figureCells = (figures: TransportFigures): string[] => [
  String(figures.commands),
  figures.lostPercent.toFixed(2),
  figures.feel === null ? '–' : `${figures.feel.badWindows} of ${figures.feel.windows}`,
  String(figures.holds),
  String(figures.stops),
  figures.heldBackPercent.toFixed(2),
  figures.longestWireMs.toFixed(1),
  figures.tcp === null ? '–' : `${figures.tcp.retransmitted}, ${figures.tcp.timeouts}`,
];

function figureLines(transports: readonly Transport[], of: TransportComparison['of']): string[] {
  const rows = [HEADINGS, ...transports.map((name) => figureCells(of[name]!))];
  const widths = HEADINGS.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  return rows.map((row, i) =>
    [(transports[i - 1] ?? '').padEnd(LABEL), ...row.map((cell, at) => cell.padStart(widths[at]!))].join(
      '  ',
    ),
  );
}
