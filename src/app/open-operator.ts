import { z } from 'zod';
import { Counters, type Reason } from '../core/counters.ts';
import { TeleopError } from '../core/errors.ts';
import { RecordRing } from '../core/memory/ring.ts';
import { SnapshotBoard } from '../core/memory/snapshot.ts';
import { DurationHistogram } from '../core/statistics/histogram.ts';
import type { Clock } from '../core/time/clock.ts';
import type { InputPlugin } from '../input/device.ts';
import type { OpenFile } from '../input/device-files.ts';
import { drivenFlag, estopFlag, windDownFlag } from '../messages/role-flags.ts';
import type { PackedTrace } from '../messages/trace-record.ts';
import { HandPlayout } from '../operator/hand-playout.ts';
import { jointsKeeper } from '../operator/joints-ring.ts';
import { OperatorLoop } from '../operator/loop.ts';
import { type CommandRows, RowFeed } from '../operator/row-feed.ts';
import type { OpenInput } from '../operator/sampler.ts';
import type { SyncClient } from '../operator/sync-client.ts';
import { LINK_SOCKETS, type OperatorArm, TwoArmOperator } from '../operator/two-arm-operator.ts';
import { TwoArmRows } from '../operator/two-arm-rows.ts';
import type { Rig } from '../rig/rig.ts';
import { createPolicy } from '../robot/playout/policy.ts';
import { sharedClock } from '../wire/clock-identity.ts';
import { GuardedHandler } from '../wire/guarded-handler.ts';
import {
  configuredPeer,
  type DatagramHandler,
  type Outbox,
  type Reactor,
  type SocketSpec,
} from '../wire/reactor.ts';
import { OperatorTunnel } from '../wire/secure/operator-tunnel.ts';
import type { OpenRelay } from './input-relay.ts';
import { recordedArm } from './recorded-robot.ts';
import { loadPlugin, pluginConfig } from './registry.ts';
import { type ArmStart, armsOf, type ControlStart } from './role-memory.ts';

type OperatorOutbox = Outbox & Pick<Reactor, 'wallUs'>;

/** What the loops of one operator share. */
interface OperatorShared {
  clock: Clock;
  counters: Counters;
  onFinished: () => void;
  /** First tick of both arms. */
  startNs: number;
  /** The other arm's, if one robot process serves both. */
  sync?: SyncClient;
  rows: CommandRows & { onClosed(record: PackedTrace): void };
}

/** Composes the operator role: for each arm inputs, loop, and the tunnel if Farhand seals the link. */
export async function openOperator(
  start: ControlStart,
  outbox: OperatorOutbox,
  clock: Clock,
  onFinished: () => void,
): Promise<DatagramHandler> {
  const counters = new Counters(start.memory.counters);
  const shared = { clock, counters, onFinished, startNs: clock.nowNs() };
  if (start.second === null) {
    const rows = new RowFeed(start.memory, start.model.joints.length, counters);
    const { loop, handler } = await openOperatorArm(start, start, outbox, { ...shared, rows });
    return new GuardedHandler(handler, counters, () => loop.hold());
  }
  const arms = armsOf(start);
  const rows = new TwoArmRows(start.memory, arms.map(recordedArm), counters);
  const last = { ...shared, onFinished: lastOf(arms.length, onFinished) };
  const left = await openOperatorArm(start, start, outbox, { ...last, rows: rows.of(0) });
  const right = await openOperatorArm(start, start.second, socketsAfter(LINK_SOCKETS, outbox), {
    ...last,
    rows: rows.of(1),
    // Two robot processes have a clock relation each.
    ...(start.robotHost === start.second.robotHost ? { sync: left.loop.sync } : {}),
  });
  const both = new TwoArmOperator([left, right], counters, drivenFlag(start.memory));
  return new GuardedHandler(both, counters, () => both.hold());
}

/** Calls back on the last of `count` calls. */
function lastOf(count: number, then: () => void): () => void {
  let left = count;
  return () => {
    if (--left === 0) then();
  };
}

/** For an arm whose sockets come after those of another. */
export const socketsAfter = <T extends OperatorOutbox>(first: number, outbox: T): OperatorOutbox => ({
  send: (socket, bytes, length, to) => outbox.send(first + socket, bytes, length, to),
  ...(outbox.wallUs && { wallUs: outbox.wallUs.bind(outbox) }),
});

async function openOperatorArm(
  start: ControlStart,
  arm: ArmStart,
  outbox: OperatorOutbox,
  { clock, counters, rows, ...shared }: OperatorShared,
): Promise<OperatorArm> {
  const { rig, model, memory, robotHost } = arm;
  const { commandPort, statePort, syncPort, transport } = rig.link;
  const peer = (port: number) => configuredPeer(robotHost, port);
  const [psk] = transport === 'zmq' ? [] : arm.keys;
  const tunnel =
    psk === undefined
      ? null
      : new OperatorTunnel(outbox, psk, [commandPort, statePort, syncPort].map(peer), clock, counters);
  const keep = recordKeeper(memory.traceRing, memory.telemetryRing);
  const loop = new OperatorLoop({
    ...shared,
    rig,
    model,
    neighbour: arm.neighbour,
    inputs: await openInputs(rig, clock, (reason) => counters.add(reason)),
    outbox: tunnel ?? outbox,
    clock,
    shared: sharedClock(outbox),
    robot: { command: peer(commandPort), state: peer(statePort), sync: peer(syncPort) },
    session: start.identity,
    counters,
    lateness: new DurationHistogram(memory.lateness),
    board: new SnapshotBoard(memory.board),
    person: memory.person,
    world: new SnapshotBoard(memory.world),
    onClosed: (record) => {
      keep(record);
      rows.onClosed(record);
    },
    rows,
    onJoints: jointsKeeper(model.joints.length, memory.traceJoints, memory.telemetryJoints),
    windDown: windDownFlag(memory),
    estop: estopFlag(memory),
  });
  tunnel?.attach(loop);
  return { loop, handler: tunnel ?? loop, inputs: loop.sampler.routes.length };
}

/** The sockets of all inputs of a rig, in the order in which the loop numbers them. */
export async function inputSockets(rig: Rig): Promise<SocketSpec[]> {
  const specs: SocketSpec[] = [];
  for (const [name, values] of Object.entries(rig.operator.inputs)) {
    const plugin = await loadPlugin('input', name);
    specs.push(...(plugin.sockets?.(inputConfig(rig, name, plugin, values)) ?? []));
  }
  return specs;
}

/** What feeds those sockets: ZeroMQ relays and device files. `ports`: the ports on which the sockets were opened. */
export async function inputRelays(
  rig: Rig,
  ports: readonly number[],
): Promise<{ relays: OpenRelay[]; files: OpenFile[] }> {
  const relays: OpenRelay[] = [];
  const files: OpenFile[] = [];
  let first = 0;
  for (const [name, values] of Object.entries(rig.operator.inputs)) {
    const plugin = await loadPlugin('input', name);
    const config = inputConfig(rig, name, plugin, values);
    for (const relay of plugin.relays?.(config) ?? [])
      relays.push({ ...relay, toPort: relay.socket === null ? null : (ports[first + relay.socket] ?? null) });
    for (const file of plugin.files?.(config) ?? [])
      files.push({ ...file, toPort: ports[first + file.socket]! });
    first += plugin.sockets?.(config).length ?? 0;
  }
  return { relays, files };
}

/** Settings of an input. An input with a `hand` setting that is not set uses the rig's hand. */
export function inputConfig(
  rig: Rig,
  name: string,
  plugin: InputPlugin<unknown>,
  values: Record<string, unknown>,
): unknown {
  if (rig.handedness === undefined) return pluginConfig('input', name, plugin, values);
  const { properties = {} } = z.toJSONSchema(plugin.config, { io: 'input' });
  const hand = 'hand' in properties ? { hand: rig.handedness } : {};
  return pluginConfig('input', name, plugin, { ...hand, ...values });
}

/** Opens the inputs of a rig; the initial input must be among them. */
export async function openInputs(
  rig: Rig,
  clock: Clock,
  remark: (reason: Reason) => void = () => {},
): Promise<Map<string, OpenInput>> {
  const inputs = new Map<string, OpenInput>();
  const { handPlayout } = rig.operator;
  for (const [name, { plugin, config }] of await inputConfigs(rig)) {
    const { automatic, clutchless = false, desk } = plugin;
    const sockets = plugin.sockets?.(config).length ?? 0;
    const opened = plugin.open(config, clock.nowNs(), remark);
    const device =
      automatic || handPlayout === 'none' ? opened : new HandPlayout(opened, createPolicy(handPlayout));
    inputs.set(name, { device, automatic, clutchless, sockets, ...(desk && { desk }) });
  }
  return inputs;
}

/** Checks the settings of the inputs before anything is opened; throws what is wrong with them. */
export async function inputConfigs(
  rig: Rig,
): Promise<Map<string, { plugin: InputPlugin<unknown>; config: unknown }>> {
  const inputs = new Map<string, { plugin: InputPlugin<unknown>; config: unknown }>();
  for (const [name, values] of Object.entries(rig.operator.inputs)) {
    const plugin = await loadPlugin('input', name);
    inputs.set(name, { plugin, config: inputConfig(rig, name, plugin, values) });
  }
  const { input, roles } = rig.operator;
  const named = { input, 'roles.clutch': roles.clutch, 'roles.record': roles.record };
  for (const [key, name] of Object.entries(named))
    if (name !== null && !inputs.has(name))
      throw new TeleopError('bad-config', `operator.${key}=${name} is not one of operator.inputs`, {
        hint: `Choose one of ${[...inputs.keys()].join(', ')}, or add it under operator.inputs.`,
      });
  const clutch = roles.clutch === null ? undefined : inputs.get(roles.clutch)?.plugin;
  if (clutch?.automatic || clutch?.clutchless)
    throw new TeleopError('bad-config', `operator.roles.clutch=${roles.clutch} has no clutch`, {
      hint: 'Choose an input that a person holds, such as pedal.',
    });
  return inputs;
}

/**
 * Closed commands leave the control thread through two rings: one for the trace file, one for the console.
 */
function recordKeeper(...buffers: SharedArrayBuffer[]): (record: PackedTrace) => void {
  const rings = buffers.map((buffer) => RecordRing.attach(buffer));
  return ({ packed }) => {
    for (const ring of rings) ring.push(packed);
  };
}
