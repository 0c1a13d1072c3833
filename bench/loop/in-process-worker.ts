import { parentPort, workerData } from 'node:worker_threads';
import { boardSize } from '../../src/app/operator/board.ts';
import type { OpenInput } from '../../src/app/operator/leader.ts';
import { OperatorLoop } from '../../src/app/operator/loop.ts';
import { loadPlugin, pluginConfig } from '../../src/app/registry.ts';
import { robotBoardSize } from '../../src/app/robot/board.ts';
import { RobotLoop } from '../../src/app/robot/loop.ts';
import { monotonicClock as clock } from '../../src/core/clock.ts';
import { Counters } from '../../src/core/counters.ts';
import { DurationHistogram } from '../../src/core/histogram.ts';
import { SnapshotBoard } from '../../src/core/snapshot.ts';
import { packTraceRecord, TRACE_FIELDS, type TraceRecord } from '../../src/core/trace-record.ts';
import { createPolicy } from '../../src/robot/playout/policy.ts';
import { peerOf } from '../../src/wire/reactor.ts';
import { type Libc, loadLibc } from '../../src/wire/transports/libc.ts';
import { LocalNetwork } from '../../src/wire/transports/local.ts';
import type { InProcessDone, InProcessStart } from './in-process.ts';

const { rig, model, seconds } = workerData as InProcessStart;
const ROBOT = '10.0.0.1';
const OPERATOR = '10.0.0.2';
const PORTS = [1, 2, 3, 4];
const PR_SET_TIMERSLACK = 29;

/** Room for every command of the run, so that the loop allocates nothing for its trace. */
const packed = new Float64Array(TRACE_FIELDS.length * Math.ceil(rig.operator.hz * (seconds + 1)));
let closed = 0;

function keep(record: TraceRecord): void {
  const at = closed * TRACE_FIELDS.length;
  if (at + TRACE_FIELDS.length > packed.length) return;
  packTraceRecord(record, packed.subarray(at, at + TRACE_FIELDS.length));
  closed++;
}

function nativeWait(libc: Libc): (deadlineNs: number) => void {
  const time = new DataView(new ArrayBuffer(16));
  const bytes = new Uint8Array(time.buffer);
  libc.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  return (deadlineNs) => {
    const waitNs = Math.max(0, deadlineNs - clock.nowNs());
    time.setUint32(0, Math.floor(waitNs / 1e9), true);
    time.setUint32(8, waitNs % 1e9, true);
    libc.ppoll(null, 0, bytes, null);
  };
}

function atomicsWait(): (deadlineNs: number) => void {
  const never = new Int32Array(new SharedArrayBuffer(4));
  return (deadlineNs) => void Atomics.wait(never, 0, 0, Math.max(0, deadlineNs - clock.nowNs()) / 1e6);
}

async function openInputs(): Promise<Map<string, OpenInput>> {
  const name = rig.operator.input;
  const plugin = await loadPlugin('input', name);
  const device = plugin.open(pluginConfig('input', name, plugin, rig.operator.inputs[name]), clock.nowNs());
  return new Map([[name, { device, automatic: plugin.automatic }]]);
}

async function attachRobot(network: LocalNetwork): Promise<void> {
  const plugin = await loadPlugin('driver', rig.robot.driver);
  const options = pluginConfig('driver', rig.robot.driver, plugin, rig.robot.options);
  const end = network.endpoint(ROBOT, PORTS.slice(0, 3));
  const robot = new RobotLoop({
    rig,
    model,
    driver: await plugin.open(options, model, clock.nowNs()),
    policy: createPolicy(rig.robot.playout),
    outbox: end.outbox,
    clock,
    boot: 1,
    counters: new Counters(),
    lateness: new DurationHistogram(),
    board: SnapshotBoard.create(robotBoardSize(model.joints.length)),
    onTransition: () => {},
    windDown: new Int32Array(1),
    onFinished: () => {},
  });
  end.attach(robot);
}

async function attachOperator(network: LocalNetwork): Promise<void> {
  const end = network.endpoint(OPERATOR, PORTS);
  const [command = 0, state = 0, sync = 0] = PORTS.map((port) => peerOf(ROBOT, port));
  const operator = new OperatorLoop({
    rig,
    model,
    inputs: await openInputs(),
    outbox: end.outbox,
    clock,
    robot: { command, state, sync },
    session: 1,
    counters: new Counters(),
    lateness: new DurationHistogram(),
    board: SnapshotBoard.create(boardSize(model.joints.length)),
    onClosed: keep,
    windDown: new Int32Array(1),
    onFinished: () => {},
  });
  end.attach(operator);
}

const libc = await loadLibc().catch(() => null);
const network = new LocalNetwork(clock, libc === null ? atomicsWait() : nativeWait(libc));
await attachRobot(network);
await attachOperator(network);
network.run(clock.nowNs() + seconds * 1e9);
const done: InProcessDone = {
  packed: packed.slice(0, closed * TRACE_FIELDS.length),
  wait: libc === null ? 'atomics' : 'ppoll',
};
parentPort?.postMessage(done);
