import type { Percentiles } from '../core/statistics/percentiles.ts';
import type { Segment } from '../messages/trace-record.ts';
import {
  clockAdvice,
  feltAdvice,
  followAdvice,
  haltAdvice,
  lossAdvice,
  segmentAdvice,
  slowAdvice,
  stallAdvice,
} from './advice.ts';
import { FELT_LEAST_S, type Measured } from './measured.ts';

/** A figure that a budget can limit. */
export interface Figure {
  unit: 'ms' | '%' | '';
  about: string;
  /** The limit is a minimum, not a maximum. */
  isLeast?: true;
  /**
   * The range in which the true figure lies if it depends on the clock offset, which an asymmetric path biases; a limit
   * inside it cannot be judged.
   */
  range?(measured: Measured): [low: number, high: number] | null;
  /** Shortest run that yields it, in seconds, settling included. */
  needsS?: number;
  of(measured: Measured): number | null;
  /** What to do if it is exceeded. */
  advice(measured: Measured): string;
}

/** A time that begins on one clock and ends on the other. */
const acrossClocks = (figure: Figure): Figure => ({
  ...figure,
  range(measured) {
    const value = figure.of(measured);
    const errorMs = measured.summary.clockUncertaintyMs?.max ?? 0;
    return value === null ? null : [value - errorMs, value + errorMs];
  },
});

const oneWay = (part: keyof Percentiles, about: string): Figure =>
  acrossClocks({
    unit: 'ms',
    about,
    of: ({ summary }) => summary.oneWayMs?.[part] ?? null,
    advice: (measured) => slowAdvice(measured),
  });

const variation = (part: keyof Percentiles, about: string): Figure => ({
  unit: 'ms',
  about,
  of: ({ summary }) => summary.variationMs?.[part] ?? null,
  advice: feltAdvice,
});

const segment = (name: Segment, part: keyof Percentiles, about: string): Figure => ({
  unit: 'ms',
  about,
  of: ({ summary }) => summary.segmentsMs[name]?.[part] ?? null,
  advice: (measured) => segmentAdvice(name, measured),
});

const wire = (part: keyof Percentiles, about: string): Figure => acrossClocks(segment('wire', part, about));

const transit = (part: keyof Percentiles): Figure =>
  acrossClocks({
    unit: 'ms',
    about: `one-way time without playout delay, ${part}`,
    of: ({ transitMs }) => transitMs?.[part] ?? null,
    advice: (measured) => slowAdvice(measured, true),
  });

const share = (about: string, count: (measured: Measured) => number, advice: Figure['advice']): Figure => ({
  unit: '%',
  about,
  of: (measured) =>
    measured.report.commands === 0 ? null : (100 * count(measured)) / measured.report.commands,
  advice,
});

/** Every limit a budget may set, by name. */
export const FIGURES: Record<string, Figure> = {
  oneWayP50Ms: oneWay('p50', 'sampled to applied, median'),
  oneWayP95Ms: oneWay('p95', 'sampled to applied, 95th percentile'),
  oneWayP99Ms: oneWay('p99', 'sampled to applied, 99th percentile'),
  oneWayMaxMs: oneWay('max', 'sampled to applied, worst command'),
  variationP95Ms: variation('p95', 'change of the one-way time from command to command'),
  variationP99Ms: variation('p99', 'change of the one-way time from command to command'),
  variationMaxMs: variation('max', 'largest change from one command to the next'),
  wireP50Ms: wire('p50', 'time on the wire, median'),
  wireP99Ms: wire('p99', 'time on the wire'),
  wireMaxMs: wire('max', 'time on the wire, worst command'),
  pipelineP99Ms: segment('pipeline', 'p99', 'operator’s mapping and filtering'),
  receiveP99Ms: segment('receive', 'p99', 'robot’s kernel to robot process'),
  playoutP99Ms: segment('playout', 'p99', 'wait for the due time'),
  applyP99Ms: segment('apply', 'p99', 'driver’s write'),
  transitP50Ms: transit('p50'),
  transitP99Ms: transit('p99'),
  transitMaxMs: transit('max'),
  softwareP99Ms: {
    unit: 'ms',
    about: 'one-way time without wire and playout',
    of: ({ softwareMs }) => softwareMs?.p99 ?? null,
    advice: stallAdvice,
  },
  commandsPerS: {
    unit: '',
    about: 'commands sent per second; fewer than operator.hz means missed ticks',
    isLeast: true,
    of: ({ report, durationS }) => report.commands / durationS,
    advice: stallAdvice,
  },
  appliedPercent: {
    ...share('commands that reached the driver', ({ report }) => report.applied, followAdvice),
    isLeast: true,
  },
  lossPercent: share('commands without a receipt', ({ report }) => report.lost, lossAdvice),
  latePercent: share(
    'commands applied after they were due',
    ({ report }) => report.late,
    (measured) => slowAdvice(measured),
  ),
  badWindows: {
    unit: '',
    about: 'one-second windows in which the robot felt unsteady (docs/playout.md)',
    needsS: FELT_LEAST_S,
    of: ({ felt }) => felt?.badWindows ?? null,
    advice: feltAdvice,
  },
  holds: {
    unit: '',
    about: 'times the robot went to hold without a person asking for it',
    of: ({ report }) => report.feel.holds,
    advice: haltAdvice,
  },
  stops: {
    unit: '',
    about: 'latched stops without a person asking for them',
    of: ({ report }) => report.feel.stops,
    advice: haltAdvice,
  },
  refused: {
    unit: '',
    about: 'commands refused because of the network, a stall, or such a hold or stop',
    of: ({ report }) => report.feel.refused,
    advice: haltAdvice,
  },
  wireBadWindows: {
    unit: '',
    about: 'one-second windows with more than 5 % of commands over 10 ms on the wire',
    of: ({ report, wireBadWindows }) => (report.commands === 0 ? null : wireBadWindows),
    range: ({ wireBadRange }) => wireBadRange,
    advice: (measured) => segmentAdvice('wire', measured),
  },
  clockUncertaintyMs: {
    unit: 'ms',
    about: 'uncertainty of the robot’s clock at the end',
    of: ({ summary }) => summary.clockUncertaintyMs?.last ?? null,
    advice: clockAdvice,
  },
  stallsOver20Ms: {
    unit: '',
    about: 'how often a control thread woke more than 20 ms late, whole run, both roles',
    of: ({ roles }) => roles.reduce((sum, role) => sum + role.stallsOver20Ms, 0),
    advice: stallAdvice,
  },
  wakeLatenessP99Ms: {
    unit: 'ms',
    about: 'how late the control threads woke, whole run, the worse role',
    of: ({ roles }) => {
      const found = roles.flatMap(({ wakeLatenessMs }) => (wakeLatenessMs ? [wakeLatenessMs.p99] : []));
      return found.length === 0 ? null : Math.max(...found);
    },
    advice: stallAdvice,
  },
};
