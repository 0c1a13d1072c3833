import { parentPort, workerData } from 'node:worker_threads';
import { monotonicClock } from '../core/clock.ts';
import { Counters } from '../core/counters.ts';
import { TeleopError } from '../core/errors.ts';
import { DurationHistogram } from '../core/histogram.ts';
import { RecordRing } from '../core/ring.ts';
import { SnapshotBoard } from '../core/snapshot.ts';
import { packTraceRecord, TRACE_FIELDS, type TraceRecord } from '../core/trace-record.ts';
import { createPolicy } from '../robot/playout/policy.ts';
import { type DatagramHandler, peerOf, type Reactor, type SocketSpec } from '../wire/reactor.ts';
import { openDgramReactor } from '../wire/transports/udp-dgram.ts';
import { openNativeReactor } from '../wire/transports/udp-native.ts';
import type { OpenInput } from './operator/leader.ts';
import { OperatorLoop } from './operator/loop.ts';
import { loadPlugin, pluginConfig } from './registry.ts';
import { RobotLoop } from './robot/loop.ts';
import { type ControlMessage, type ControlStart, stopFlag, windDownFlag } from './shared.ts';

/** The control thread of a role: opens the devices and sockets, then does nothing but the loop. */
const start = workerData as ControlStart;
const { rig, model, memory } = start;
const clock = monotonicClock;
const tell = (message: ControlMessage) => parentPort?.postMessage(message);

// Parsing garbage throws and catches; stack traces would be most of its cost.
Error.stackTraceLimit = 0;

function socketSpecs(): SocketSpec[] {
  const { listenHost, commandPort, statePort, syncPort } = rig.link;
  if (start.role === 'robot')
    return [
      { name: 'command', host: listenHost, port: commandPort },
      { name: 'state', host: listenHost, port: statePort },
      { name: 'sync', host: listenHost, port: syncPort },
    ];
  const any = '0.0.0.0';
  const local = start.robotHost.startsWith('127.') ? '127.0.0.1' : any;
  return [
    { name: 'command', host: local, port: 0 },
    { name: 'state', host: local, port: 0 },
    { name: 'sync', host: local, port: 0 },
    { name: 'desk', host: '127.0.0.1', port: rig.console.deskPort, portKey: 'console.deskPort' },
  ];
}

async function openReactor(): Promise<{ reactor: Reactor; fallback: string | null }> {
  const specs = socketSpecs();
  if (rig.link.reactor !== 'dgram') {
    try {
      return { reactor: await openNativeReactor(specs, stopFlag(memory), clock), fallback: null };
    } catch (error) {
      const missing = error instanceof TeleopError && error.code === 'native-unavailable';
      if (!missing || rig.link.reactor === 'native') throw error;
      return { reactor: await openDgramReactor(specs, stopFlag(memory), clock), fallback: error.message };
    }
  }
  return { reactor: await openDgramReactor(specs, stopFlag(memory), clock), fallback: null };
}

async function openInputs(): Promise<Map<string, OpenInput>> {
  const inputs = new Map<string, OpenInput>();
  for (const [name, values] of Object.entries(rig.operator.inputs)) {
    const plugin = await loadPlugin('input', name);
    const device = plugin.open(pluginConfig('input', name, plugin, values), clock.nowNs());
    inputs.set(name, { device, automatic: plugin.automatic });
  }
  if (!inputs.has(rig.operator.input))
    throw new TeleopError(
      'bad-config',
      `operator.input=${rig.operator.input} is not one of operator.inputs`,
      {
        hint: `Choose one of ${[...inputs.keys()].join(', ')}, or add it under operator.inputs.`,
      },
    );
  return inputs;
}

async function openOperator(reactor: Reactor): Promise<DatagramHandler> {
  const { commandPort, statePort, syncPort } = rig.link;
  const peer = (port: number) => peerOf(start.robotHost, port);
  const traces = RecordRing.attach(memory.traceRing);
  const telemetry = RecordRing.attach(memory.telemetryRing);
  const packed = new Float64Array(TRACE_FIELDS.length);
  return new OperatorLoop({
    rig,
    model,
    inputs: await openInputs(),
    outbox: reactor,
    clock,
    robot: { command: peer(commandPort), state: peer(statePort), sync: peer(syncPort) },
    session: start.identity,
    counters: new Counters(memory.counters),
    lateness: new DurationHistogram(memory.lateness),
    board: new SnapshotBoard(memory.board),
    onClosed(record: TraceRecord) {
      packTraceRecord(record, packed);
      traces.push(packed);
      telemetry.push(packed);
    },
    windDown: windDownFlag(memory),
    onFinished: () => reactor.stop(),
  });
}

async function runRobot(reactor: Reactor, ready: () => void): Promise<void> {
  const plugin = await loadPlugin('driver', rig.robot.driver);
  const options = pluginConfig('driver', rig.robot.driver, plugin, rig.robot.options);
  const driver = await plugin.open(options, model, clock.nowNs());
  try {
    const loop = new RobotLoop({
      rig,
      model,
      driver,
      policy: createPolicy(rig.robot.playout),
      outbox: reactor,
      clock,
      boot: start.identity,
      counters: new Counters(memory.counters),
      lateness: new DurationHistogram(memory.lateness),
      onTransition: (transition) => tell({ kind: 'transition', ...transition }),
      windDown: windDownFlag(memory),
      onFinished: () => reactor.stop(),
    });
    ready();
    await reactor.run(loop);
  } finally {
    // Whatever ended the loop, a bug of ours included: the robot comes to rest.
    driver.stop(clock.nowNs());
    driver.dispose();
  }
}

async function main(): Promise<void> {
  const { reactor, fallback } = await openReactor();
  const ports = socketSpecs().map((_, i) => reactor.localPort(i));
  const ready = () =>
    tell({ kind: 'ready', ports, reactor: reactor.kind, stampSource: reactor.stampSource, fallback });
  try {
    if (start.role === 'operator') {
      const loop = await openOperator(reactor);
      ready();
      await reactor.run(loop);
    } else await runRobot(reactor, ready);
  } finally {
    reactor.close();
  }
  tell({ kind: 'done' });
}

main().catch((error: unknown) => {
  if (!(error instanceof TeleopError)) throw error;
  tell({ kind: 'failed', code: error.code, message: error.message, hint: error.hint });
});
