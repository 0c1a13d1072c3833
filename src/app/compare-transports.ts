import path from 'node:path';
import { readSlice, type Slice, WARM_UP_S } from '../check/transport-slice.ts';
import { deferred } from '../core/deferred.ts';
import { TeleopError } from '../core/errors.ts';
import { temporaryFolder } from '../files/temporary-folder.ts';
import { differenceInterval, type Interval, sliceInterval } from '../trace/bootstrap.ts';
import { runDemo } from './run-demo.ts';

export const TRANSPORTS = ['udp', 'zmq', 'websocket', 'datachannel'] as const;
export type Transport = (typeof TRANSPORTS)[number];

const QUANTILES = { p50: 0.5, p95: 0.95, p99: 0.99, max: 1 } as const;
export type QuantileName = keyof typeof QUANTILES;
type Row = Record<QuantileName, Interval>;

/** What the kernels of both ends counted during the slices. */
export interface TcpCounts {
  retransmitted: number;
  /** Of those, how many after a retransmission timeout. */
  timeouts: number;
}

export interface TransportFigures {
  commands: number;
  /** From sampling to the instant the robot acts on that command or a newer one: a lost command counts too. */
  actedMs: Row;
  lostPercent: number;
  /** Null if the slices are too short to judge a second. */
  feel: { windows: number; badWindows: number } | null;
  holds: number;
  stops: number;
  refused: number;
  /** Commands that arrived together with an earlier one they had waited for, and that one's time on the wire. */
  heldBackPercent: number;
  longestWireMs: number;
  /** Null where no namespace of its own counts them. */
  tcp: TcpCounts | null;
}

export interface TransportComparison {
  slices: number;
  secondsPerSlice: number;
  transports: Transport[];
  of: Partial<Record<Transport, TransportFigures>>;
  /** The first transport − each other one: below zero, the first is faster. */
  differenceMs: Partial<Record<Transport, Row>>;
}

export interface CompareOptions {
  rig: string;
  overrides: readonly string[];
  transports: readonly Transport[];
  slices: number;
  secondsPerSlice: number;
  onProgress: (done: number, total: number) => void;
  /** Runs all transports at the same time instead of one after the other. */
  together?: boolean;
  /** Interrupts the comparison, which then has no result. */
  stop?: Promise<void>;
  /**
   * Runs both roles with these overrides for some seconds and leaves a trace. Default: the demo on loopback.
   * `ready` is called before measuring, and resolves when all transports of a round are ready.
   */
  run?: (
    overrides: readonly string[],
    seconds: number,
    slice: number,
    ready: () => Promise<void>,
  ) => Promise<{ tracePath: string; fromNs?: number; tcp?: TcpCounts | null }>;
}

type Measured = Slice & { tcp: TcpCounts | null };

/** Runs the transports in turn, slice by slice, or together, so that load on the machine affects all alike. */
export async function compareTransports(options: CompareOptions): Promise<TransportComparison> {
  const { transports, slices, secondsPerSlice, onProgress } = options;
  const folder = temporaryFolder('compare');
  const found = new Map<Transport, Measured[]>(transports.map((name) => [name, []]));
  let done = 0;
  try {
    for (let slice = 0; slice < slices; slice++) {
      // Alternate which goes first: a trend within a round must not favour one.
      const order = slice % 2 === 0 ? transports : transports.toReversed();
      for (const round of options.together ? [order] : order.map((name) => [name])) {
        const measured = await measureRound(options, round, slice, folder.path);
        for (const [i, name] of round.entries()) found.get(name)!.push(measured[i]!);
        done += round.length;
        onProgress(done, slices * transports.length);
      }
    }
  } finally {
    folder.remove();
  }
  const [first, ...others] = transports;
  const samples = (name: Transport) => found.get(name)!.map(({ actedMs }) => actedMs);
  return {
    slices,
    secondsPerSlice,
    transports: [...transports],
    of: Object.fromEntries(transports.map((name) => [name, figuresOf(found.get(name)!)])),
    differenceMs: Object.fromEntries(
      others.map((name) => [
        name,
        rowOf((q) => differenceInterval(samples(first!), samples(name), q, Math.random)),
      ]),
    ),
  };
}

const rowOf = (make: (q: number) => Interval): Row =>
  Object.fromEntries(Object.entries(QUANTILES).map(([name, q]) => [name, make(q)])) as Row;

function figuresOf(slices: readonly Measured[]): TransportFigures {
  const sum = (of: (slice: Measured) => number) => slices.reduce((total, slice) => total + of(slice), 0);
  const commands = sum((slice) => slice.commands);
  const windows = sum(({ feel }) => feel.windows);
  return {
    commands,
    actedMs: rowOf((q) =>
      sliceInterval(
        slices.map(({ actedMs }) => actedMs),
        q,
        Math.random,
      ),
    ),
    lostPercent: (100 * sum(({ lost }) => lost)) / commands,
    feel: windows === 0 ? null : { windows, badWindows: sum(({ feel }) => feel.badWindows) },
    holds: sum(({ feel }) => feel.holds),
    stops: sum(({ feel }) => feel.stops),
    refused: sum(({ feel }) => feel.refused),
    heldBackPercent: (100 * sum(({ bunches }) => bunches.commands)) / commands,
    longestWireMs: Math.max(...slices.map(({ longestWireMs }) => longestWireMs)),
    tcp: slices.some(({ tcp }) => tcp === null)
      ? null
      : {
          retransmitted: sum(({ tcp }) => tcp!.retransmitted),
          timeouts: sum(({ tcp }) => tcp!.timeouts),
        },
  };
}

/** Waits for all before it throws the first error: nothing of a round is left running. */
async function measureRound(
  options: CompareOptions,
  round: readonly Transport[],
  slice: number,
  folder: string,
): Promise<Measured[]> {
  const start = deferred<void>();
  let missing = round.length;
  const settled = await Promise.allSettled(
    round.map((transport) => {
      let isThere = false;
      const ready = () => {
        if (!isThere && --missing === 0) start.resolve();
        isThere = true;
        return start.promise;
      };
      // One that fails must not keep the others waiting.
      const run = measure(options, transport, slice, path.join(folder, transport), ready);
      return run.finally(() => void ready());
    }),
  );
  return settled.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

async function measure(
  options: CompareOptions,
  transport: Transport,
  slice: number,
  folder: string,
  ready: () => Promise<void>,
): Promise<Measured> {
  const overrides = [
    ...options.overrides,
    'robot.playout=none',
    `link.transport=${transport}`,
    `trace.dir=${folder}`,
  ];
  const run = options.run ?? demoOf(options);
  const seconds = options.secondsPerSlice + WARM_UP_S;
  const { tracePath, fromNs, tcp = null } = await run(overrides, seconds, slice, ready);
  return { ...(await readSlice(tracePath, fromNs)), tcp };
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
