import { TeleopError } from '../core/errors.ts';
import { temporaryFolder } from '../files/temporary-folder.ts';
import { differenceInterval, type Interval, sliceInterval } from '../trace/bootstrap.ts';
import { readTraceParts } from '../trace/read-file.ts';
import { oneWayNs } from '../trace/segments.ts';
import { runDemo } from './run-demo.ts';

export const TRANSPORTS = ['udp', 'zmq'] as const;
export type Transport = (typeof TRANSPORTS)[number];

const QUANTILES = { p50: 0.5, p95: 0.95, p99: 0.99, max: 1 } as const;
export type QuantileName = keyof typeof QUANTILES;
type Row = Record<QuantileName, Interval>;

export interface TransportComparison {
  slices: number;
  secondsPerSlice: number;
  commands: Record<Transport, number>;
  oneWayMs: Record<Transport, Row>;
  /** udp − zmq: below zero, udp is faster. */
  differenceMs: Row;
}

export interface CompareOptions {
  rig: string;
  overrides: readonly string[];
  slices: number;
  secondsPerSlice: number;
  onProgress: (done: number, total: number) => void;
  /** Interrupts the comparison, which then has no result. */
  stop?: Promise<void>;
  /**
   * Runs both roles with these overrides for some seconds and leaves a trace. Default: the demo on loopback.
   */
  run?: (overrides: readonly string[], seconds: number) => Promise<{ tracePath: string }>;
}

/** The first second of a process measures the compiler, not the link. */
const WARM_UP_NS = 1e9;

/** Runs both transports in turn, slice by slice, so that load on the machine affects both alike. */
export async function compareTransports(options: CompareOptions): Promise<TransportComparison> {
  const { slices, secondsPerSlice, onProgress } = options;
  const folder = temporaryFolder('compare');
  const samples: Record<Transport, Float64Array[]> = { udp: [], zmq: [] };
  try {
    for (let slice = 0; slice < slices; slice++) {
      // Alternate which goes first: a trend within a pair must not favour one.
      const order = slice % 2 === 0 ? TRANSPORTS : TRANSPORTS.toReversed();
      for (const transport of order) {
        samples[transport].push(await measure(options, transport, folder.path));
        onProgress(samples.udp.length + samples.zmq.length, slices * TRANSPORTS.length);
      }
    }
  } finally {
    folder.remove();
  }
  const row = (make: (q: number) => Interval) =>
    Object.fromEntries(Object.entries(QUANTILES).map(([name, q]) => [name, make(q)])) as Row;
  const count = (transport: Transport) => samples[transport].reduce((sum, slice) => sum + slice.length, 0);
  return {
    slices,
    secondsPerSlice,
    commands: { udp: count('udp'), zmq: count('zmq') },
    oneWayMs: {
      udp: row((q) => sliceInterval(samples.udp, q, Math.random)),
      zmq: row((q) => sliceInterval(samples.zmq, q, Math.random)),
    },
    differenceMs: row((q) => differenceInterval(samples.udp, samples.zmq, q, Math.random)),
  };
}

async function measure(options: CompareOptions, transport: Transport, folder: string): Promise<Float64Array> {
  const seconds = options.secondsPerSlice + WARM_UP_NS / 1e9;
  const overrides = [
    ...options.overrides,
    'robot.playout=none',
    `link.transport=${transport}`,
    `trace.dir=${folder}`,
  ];
  const { tracePath } = await (options.run ?? demoOf(options))(overrides, seconds);
  const found: number[] = [];
  let firstNs = Number.NaN;
  await readTraceParts(tracePath, (record) => {
    if (Number.isNaN(firstNs)) firstNs = record.sampledNs;
    const ms = oneWayNs(record) / 1e6;
    if (record.sampledNs - firstNs >= WARM_UP_NS && Number.isFinite(ms)) found.push(ms);
  });
  return Float64Array.from(found);
}

function demoOf({ rig, stop = new Promise(() => {}) }: CompareOptions): NonNullable<CompareOptions['run']> {
  let isStopped = false;
  void stop.then(() => {
    isStopped = true;
  });
  return async (overrides, durationS) => {
    const silent = { say: () => {}, onUrl: () => {} };
    const run = await runDemo({ rig, overrides, headless: true, durationS, stop, ...silent });
    if (!isStopped) return run;
    throw new TeleopError('not-confirmed', 'the comparison was interrupted', {
      hint: 'Let it finish, or make it shorter: --seconds S --slices N.',
    });
  };
}
