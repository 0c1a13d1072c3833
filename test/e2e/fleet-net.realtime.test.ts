import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FleetTelemetry } from '../../src/fleet/messages.ts';
import { roster } from '../../src/fleet/roster/listen-for-robots.ts';
import { signalRobot } from '../../src/fleet/signalling.ts';
import { subjects } from '../../src/fleet/subjects.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Running, startFarhand } from './farhand.ts';
import { type FleetWorld, startFleetWorld, type Transition, transitionsOf } from './fleet-rig.ts';
import { type End, Networks } from './networks.ts';
import { startTurn, type TurnServer } from './turn-server.ts';

const skip = needs('nats-server', 'turnserver', 'ip', 'network namespaces');
const [BROKER_PORT, TURN_PORT, DESK_PORT] = [4222, 3478, 47_000];
const SECRET = 'shared with the server';
/** The networks are on this machine. */
const PLAIN = 'fleet.plainBeyondLoopback=true';

/** A machine with twenty busy programs takes a minute to start a robot. */
const START_MS = 120_000;
const PATIENT_MS = 60_000;

const nowNs = (): number => Number(process.hrtime.bigint());

// All processes share the machine's monotonic clock, so the robot's stamps can be compared with ours.
// Seven processes start, some of them one after the other, and a lost robot is missed after twelve seconds.
describe('a robot and an operator without a direct path', { skip, timeout: 400_000 }, () => {
  const folder = temporaryFolder();
  const running: Running[] = [];
  let networks: Networks;
  let world: FleetWorld;
  let turn: TurnServer;
  let robot: Running;
  let ann: Running;
  let bob: Promise<Running>;

  const start = (end: End, args: string[]): Running => {
    const child = startFarhand(args, false, networks.within(end));
    running.push(child);
    return child;
  };
  const startRobot = async (end: End, name: string, secret: string): Promise<Running> => {
    const file = path.join(folder, `${name}.turn`);
    writeFileSync(file, secret);
    const ice = [`fleet.iceServers=[turn:${networks.address}:${TURN_PORT}]`, `fleet.turnSecretFile=${file}`];
    const creds = await world.credentials(name, 'robot', [name]);
    const child = start(end, [
      'robot',
      '--json',
      '--fleet',
      world.server.url,
      '--creds',
      creds,
      PLAIN,
      ...ice,
    ]);
    await child.waitFor(/on the fleet/, START_MS);
    return child;
  };
  const operate = (end: End, who: string, name: string): Running => {
    const access = ['--server', world.server.url, '--creds', path.join(folder, `${who}.creds`), PLAIN];
    const settings = [
      `console.deskPort=${DESK_PORT}`,
      `console.telemetryPort=${DESK_PORT + 1}`,
      'trace.dir=',
    ];
    return start(end, ['fleet', 'operate', name, '--json', ...access, ...settings]);
  };
  const turnServer = () => startTurn(networks.address, TURN_PORT, SECRET, networks.middle.within);
  const transitions = () => transitionsOf(robot);
  const next = async (seen: number, to: string, withinMs: number): Promise<Transition> => {
    let found: Transition | undefined;
    await until(`the robot ${to}`, withinMs, () => {
      found = transitions()
        .slice(seen)
        .find((transition) => transition.to === to);
      return found !== undefined;
    });
    return found!;
  };
  const until = async (what: string, withinMs: number, isSo: () => boolean | Promise<boolean>) => {
    const startedMs = performance.now();
    while (!(await isSo())) {
      const output = () => running.map((child) => child.stdout() + child.stderr()).join('\n');
      if (performance.now() - startedMs > withinMs)
        throw new Error(`${what}: not within ${withinMs} ms\n${output()}`);
      await sleep(20);
    }
    return performance.now() - startedMs;
  };
  /** Resets and arms after a stop, through the operator's desk in its network. */
  const restart = async () => {
    const before = transitions().length;
    const isPast = (state: string) =>
      transitions()
        .slice(before)
        .some(({ to }) => to === state);
    for (let tries = 0; tries < 300 && !isPast('engaged'); tries++) {
      networks.ask('operator', DESK_PORT, isPast('idle') ? 'arm' : 'reset');
      await sleep(100);
    }
    await next(before, 'engaged', PATIENT_MS);
  };
  /** How far any joint moved during so many reports, five a second, that the robot sends over the broker. */
  const moved = async (reports: number): Promise<number> => {
    const reported: number[][] = [];
    const subscription = world.boss.nats.subscribe(subjects.telemetry('arm'), {
      callback: (_, message) => void reported.push((message.json() as FleetTelemetry).measuredRad),
    });
    // A robot without a driver reports only while somebody wants it.
    await signalRobot(world.boss, 'arm', { kind: 'want' });
    await until(`${reports} reports`, PATIENT_MS, () => reported.length >= reports);
    subscription.unsubscribe();
    const span = (values: number[]) => Math.max(...values) - Math.min(...values);
    return Math.max(...reported[0]!.map((_, joint) => span(reported.map((joints) => joints[joint]!))));
  };

  before(async () => {
    networks = await Networks.open();
    const place = { host: networks.address, port: BROKER_PORT };
    turn = await turnServer();
    world = await startFleetWorld(folder, place, networks.middle.within);
    for (const name of ['ann', 'bob']) await world.credentials(name, 'operator', ['arm', 'far']);
    // Slow, so it runs in parallel with the rest.
    bob = startRobot('other-robot', 'far', 'another secret').then(() => operate('other-desk', 'bob', 'far'));
    bob.catch(() => {});
    robot = await startRobot('robot', 'arm', SECRET);
  });
  after(async () => {
    await Promise.all(running.map((child) => child.end()));
    await world?.close();
    await turn?.kill();
    await networks?.close();
  });

  it('drive through TURN', async (t) => {
    assert.equal(networks.forwards, false);
    const reached = await Promise.all([
      networks.reaches('robot', networks.address),
      networks.reaches('robot', networks.addressOf('operator')),
      networks.reaches('operator', networks.addressOf('robot')),
    ]);
    assert.deepEqual(reached, [true, false, false]);
    ann = operate('operator', 'ann', 'arm');
    await ann.waitFor(/drives arm over WebRTC \(relay\)/, START_MS);
    await next(0, 'engaged', PATIENT_MS);
    const before = networks.datagramsInMiddle();
    await until('the robot moves', PATIENT_MS, async () => (await moved(3)) > 0.02);
    // A hundred commands a second, and as many states.
    const relayed = () => networks.datagramsInMiddle() - before;
    const tookMs = await until('relayed', PATIENT_MS, () => relayed() > 150);
    t.diagnostic(
      `${relayed()} datagrams through the TURN server, the last of them in ${tookMs.toFixed(0)} ms`,
    );
    const names = [...turn.said().matchAll(/user <(\d+):ann>/g)].map(([, expiresS]) => Number(expiresS));
    assert.ok(names.length > 0, turn.said());
    for (const expiresS of names)
      assert.ok(Math.abs(expiresS - Date.now() / 1000 - 12 * 3600) < 60, `valid until ${expiresS}`);
  });

  it('stop when the robot loses its network, and can drive again when it returns', async (t) => {
    const seen = transitions().length;
    const received: number[] = [];
    const subscription = world.boss.nats.subscribe(subjects.presence('arm'), {
      callback: () => void received.push(nowNs()),
    });
    networks.cut('robot');
    const cutNs = nowNs();
    await next(seen, 'hold', PATIENT_MS);
    await next(seen, 'stopped', PATIENT_MS);
    await until('absent', PATIENT_MS, async () => (await roster(world.boss, 'arm')).length === 0);
    assert.ok(
      received.every((atNs) => atNs < cutNs + 5e9),
      'presence after the network was lost',
    );
    // Its operator still holds the lease, so no one else can.
    assert.equal((await world.leases.look('arm'))?.user, 'ann');
    networks.reconnect('robot');
    const reconnectedNs = nowNs();
    const backMs = await until('present again', PATIENT_MS, () => received.at(-1)! > reconnectedNs);
    subscription.unsubscribe();
    // In the same process, under the same lease.
    await until('the path reopened', PATIENT_MS, () => /reopened \(relay\)/.test(ann.stderr()));
    const wayMs = (nowNs() - reconnectedNs) / 1e6;
    t.diagnostic(`there again after ${backMs.toFixed(0)} ms, a way again after ${wayMs.toFixed(0)} ms`);
    assert.equal(transitions().at(-1)!.to, 'stopped');
    await restart();
  });

  it('stop when the operator loses its network; the lease becomes free in time', async () => {
    const seen = transitions().length;
    networks.cut('operator');
    await next(seen, 'stopped', PATIENT_MS);
    assert.ok((await moved(4)) < 1e-3, 'the robot moves');
    await until('free', PATIENT_MS, async () => (await world.leases.look('arm')) === null);
    // It reopens the path for a minute; nobody waits for that here.
    ann.process.kill('SIGKILL');
    await ann.exited;
    networks.reconnect('operator');
    // The network may still deliver the last renewals of the process that was killed.
    await sleep(1000);
    await until('free again', PATIENT_MS, async () => (await world.leases.look('arm')) === null);
    ann = operate('operator', 'ann', 'arm');
    await ann.waitFor(/drives arm over WebRTC \(relay\)/, START_MS);
    await restart();
  });

  it('hold and stop when the TURN server is killed, and can drive again when it is back', async (t) => {
    const seen = transitions().length;
    const killedNs = nowNs();
    await turn.kill();
    turn = await turnServer();
    await next(seen, 'stopped', PATIENT_MS);
    assert.ok((await moved(4)) < 1e-3, 'the robot moves');
    // Under the same lease, in the same process.
    await until('the path reopened', PATIENT_MS, () => /reopened \(relay\)/.test(ann.stderr()));
    t.diagnostic(
      `a way again ${((nowNs() - killedNs) / 1e6).toFixed(0)} ms after the TURN server was killed`,
    );
    assert.ok((await moved(3)) < 1e-3, 'the robot moves before it is armed');
    await restart();
  });

  it('open no session through a TURN server with another secret', async () => {
    const child = await bob;
    assert.equal(await child.exited, 2);
    assert.match(child.stderr(), /far did not open a session: no network path was found/);
  });
});
