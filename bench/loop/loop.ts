import { expectWords, type Given, JSON_OPTION, type Verb } from '../../src/cli/arguments.ts';
import { print, SECONDS_OPTION, secondsOf } from '../bench.ts';
import { demoRun } from '../demo-run.ts';
import { environment, meterLoad } from '../environment.ts';
import { Progress } from '../progress.ts';
import { inProcessRun } from './in-process.ts';
import { PathSamples, WARM_UP_S } from './path.ts';
import { checkPair, type PairCheck, type PairKind, PairSamples, pairRun } from './python.ts';
import { type LoopReport, loopText, verdicts } from './report.ts';

/** The compared paths take turns, so that drift of the machine affects all. */
const SLICES = 3;
const START_S = 2;
/** Until the first command of a demo: handshake, first state, arming. */
const CONTACT_S = 0.5;
const PAIR_HZ = 100;
const PAIRS: Record<PairKind, string> = {
  zmq: 'Python pair, ZeroMQ PUB/SUB over TCP, 100 Hz',
  udp: 'Python pair, plain UDP, 100 Hz',
};

export const loopBench: Verb = {
  name: 'loop',
  usage: '[--seconds S] [--json]',
  about:
    'One-way latency per segment, in one process and over loopback UDP, compared with a Python ZeroMQ pair.',
  details: `Runs operator and robot in one thread and as two processes, at 100 and 500 Hz, and the same 100 Hz message
through two Python processes. The compared 100 Hz paths take turns in ${SLICES} slices. Exits 0 after every complete
measurement: the aims are printed as met or missed. PYTHON=… selects another interpreter.`,
  options: {
    seconds: { ...SECONDS_OPTION, about: `${SECONDS_OPTION.about} (default 30)` },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(loopBench, given, 0, 0);
    const report = await measure(secondsOf(given, 30));
    print(given, { ...report, verdicts: verdicts(report) }, loopText(report));
    return 0;
  },
};

async function measure(seconds: number): Promise<LoopReport> {
  const env = environment();
  const checks = { zmq: await checkPair('zmq'), udp: await checkPair('udp') };
  const kinds = (['zmq', 'udp'] as const).filter((kind) => checks[kind].ok);
  const wholeS = seconds + WARM_UP_S;
  const sliceS = seconds / SLICES + WARM_UP_S;
  const totalS = 2 * wholeS + (wholeS + START_S) + SLICES * (2 + kinds.length) * (sliceS + START_S);
  const progress = new Progress(3 + SLICES * (2 + kinds.length), totalS);
  const paths = [];
  let wait = '';
  for (const hz of [100, 500]) {
    const samples = new PathSamples();
    const load = meterLoad();
    const run = await progress.during(`in one process, ${hz} Hz`, wholeS, () => inProcessRun(hz, wholeS));
    samples.addRun(run.records, load());
    wait = run.wait;
    paths.push(samples.result(`Farhand in one process, ${hz} Hz`, hz));
  }
  const { ours, plain, pairs } = await takeTurns(progress, sliceS, kinds);
  paths.push(ours.result('Farhand, two processes over UDP, 100 Hz', 100));
  paths.push(plain.result('Farhand, the same in the clear, 100 Hz', 100));
  const fast = new PathSamples();
  await twoProcesses(progress, fast, 500, wholeS, '');
  paths.push(fast.result('Farhand, two processes over UDP, 500 Hz', 500));
  const python = kinds.map((kind) => ({ kind, ...pairs[kind].result(PAIRS[kind], PAIR_HZ) }));
  const messageBytes = pairs.zmq.bytes || pairs.udp.bytes || null;
  return {
    bench: 'loop',
    environment: env,
    seconds,
    wait,
    paths,
    python,
    checks: reported(checks),
    messageBytes,
  };
}

/** Every other turn runs in the opposite order. */
async function takeTurns(progress: Progress, sliceS: number, kinds: readonly PairKind[]) {
  const ours = new PathSamples();
  const plain = new PathSamples();
  const pairs = { zmq: new PairSamples(), udp: new PairSamples() };
  for (let turn = 1; turn <= SLICES; turn++) {
    const label = `, turn ${turn} of ${SLICES}`;
    const runs = [
      () => twoProcesses(progress, ours, 100, sliceS, label),
      () => twoProcesses(progress, plain, 100, sliceS, `${label}, in the clear`, ['link.security=plain']),
      ...kinds.map((kind) => async () => {
        const load = meterLoad();
        const run = await progress.during(`${PAIRS[kind]}${label}`, sliceS + START_S, () =>
          pairRun(kind, PAIR_HZ, sliceS),
        );
        pairs[kind].addRun(run, load());
      }),
    ];
    for (const run of turn % 2 === 0 ? runs.reverse() : runs) await run();
  }
  return { ours, plain, pairs };
}

async function twoProcesses(
  progress: Progress,
  samples: PathSamples,
  hz: number,
  seconds: number,
  label: string,
  more: string[] = [],
): Promise<void> {
  const load = meterLoad();
  const overrides = ['robot.playout=none', `operator.hz=${hz}`, ...more];
  const run = await progress.during(`two processes over UDP, ${hz} Hz${label}`, seconds + START_S, () =>
    demoRun({ overrides, durationS: seconds + CONTACT_S }),
  );
  samples.addRun(run.records, load());
}

const reported = (checks: Record<PairKind, PairCheck>) =>
  Object.entries(checks).map(([kind, check]) => ({ kind, ...check }));
