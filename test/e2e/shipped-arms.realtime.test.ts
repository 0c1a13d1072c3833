import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SimLine } from '../../sim/narrator.ts';
import type { Transition } from '../../src/robot/supervisor/states.ts';
import { createKey, writeKeyFile } from '../../src/wire/secure/key-file.ts';
import { Lifetime } from '../lifetime.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Running, root, startFarhand } from './farhand.ts';

const SIDES = ['left', 'right'] as const;
type Side = (typeof SIDES)[number];
type SideTransition = Transition & { kind: 'transition'; side: Side | null };

interface ShippedRig {
  rig: string;
  /** A simulator of each arm, and the robot's settings for it. */
  arm(side: Side, tty: string): { sim: string[]; settings: string[] };
  /** A leader moves each arm instead of the scripted hand: its port for joints. */
  leaders?: Record<Side, number>;
  /** Names of the first and last value of a row. */
  names: [string, string];
}

/** Motors that reply late on a busy machine. */
const damiao = (side: Side, at: '' | 'can.', bus: string): string[] =>
  [bus, 'feedbackTimeoutMs=1000'].map((setting) => `arms.${side}.robot.options.${at}${setting}`);

const RIGS: readonly ShippedRig[] = [
  {
    rig: 'openarm-both',
    arm: (side, tty) => ({
      sim: ['openarm', '--slcan', tty, '--side', side],
      settings: damiao(side, '', `bus=slcan:${tty}`),
    }),
    names: ['left_joint1', 'right_gripper'],
  },
  {
    rig: 'dk1-both',
    arm: (side, tty) => ({
      sim: ['dk1', '--serial', tty],
      settings: damiao(side, '', `bus=damiao:${tty}`),
    }),
    leaders: { left: 4783, right: 4773 },
    names: ['left_joint1', 'right_gripper'],
  },
  {
    rig: 'vlai-l1-both',
    arm: (side, tty) => ({
      sim: ['vlai-l1', '--slcan', tty, '--side', side],
      settings: damiao(side, 'can.', `bus=slcan:${tty}`),
    }),
    names: ['left_joint1', 'right_gripper'],
  },
  { rig: 'ur3-both', arm: (side) => urArm(side, HOSTS[side]), names: ['left_shoulder_pan', 'right_gripper'] },
];

/** Two controllers on one machine. */
const HOSTS: Record<Side, string> = { left: '127.0.0.2', right: '127.0.0.3' };
const urArm = (side: Side, host: string) => ({
  sim: ['ur', '--host', host],
  settings: [`arms.${side}.robot.options.host=${host}`],
});

/** A busy machine stalls. This tests that everything fits together, not the watchdogs. */
const PATIENT = ['operator.outageHoldS=2', 'arms.silenceMs=500'];

/** A network of its own: every port is the rig's. */
async function openNetwork(life: Lifetime): Promise<{ pid: string; within: string[] }> {
  const keeper = spawn('unshare', ['-n', 'sh', '-c', 'ip link set lo up; echo up; exec sleep 600'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  life.own(keeper, (each) => void each.kill('SIGKILL'));
  await once(keeper.stdout!, 'data');
  const pid = String(keeper.pid);
  return { pid, within: ['nsenter', '-t', pid, '-n'] };
}

const linesOf = <T>(running: Running, kind: string): T[] =>
  running
    .stdout()
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.includes(`"kind":"${kind}"`))
    .map((line) => JSON.parse(line) as T);

const positionsOf = (sim: Running): number[] | undefined =>
  linesOf<Extract<SimLine, { kind: 'arm' }>>(sim, 'arm').at(-1)?.positionsRad;

async function until(what: string, isSo: () => boolean, why: () => string, seconds = 60): Promise<void> {
  for (let i = 0; i < seconds * 20; i++) {
    if (isSo()) return;
    await sleep(50);
  }
  assert.fail(`${what}: ${why()}`);
}

/** Runs verbs inside a network; what it starts ends with `life`. */
function inside(within: readonly string[], life: Lifetime) {
  const start = (args: readonly string[]): Running => {
    const running = startFarhand(args, false, within);
    life.own(running, (each) => each.end());
    return running;
  };
  /** Why it failed, if it may; else empty. */
  const run = async (args: readonly string[], mayFail = false): Promise<string> => {
    const running = startFarhand(args, false, within);
    const code = await running.exited;
    if (code !== 0 && mayFail) return running.stderr();
    assert.equal(code, 0, `${args.join(' ')}: ${running.stderr()}`);
    return '';
  };
  return { start, run };
}

/** A busy machine may stall while everything starts, and then the robot rightly stops. */
async function armed(
  base: readonly string[],
  run: (args: readonly string[], mayFail?: boolean) => Promise<string>,
  why: () => string,
): Promise<void> {
  let failure = '';
  for (let tries = 0; tries < 5; tries++) {
    failure = await run(['ask', 'arm', ...base, '--within', '40000'], true);
    if (failure === '') return;
    await run(['reset', ...base, '--within', '5000'], true);
  }
  assert.fail(`not armed: ${failure}\n${why()}`);
}

const lastState = (robot: Running, side: Side): string | undefined =>
  linesOf<SideTransition>(robot, 'transition').findLast((each) => each.side === side || each.side === null)
    ?.to;

/** `farhand leader`, with a person who presses Enter. */
function startLeader(args: readonly string[], within: readonly string[], life: Lifetime) {
  const [program, ...words] = [
    ...within,
    process.execPath,
    path.join(root, 'bin', 'farhand'),
    'leader',
    ...args,
  ];
  const child = spawn(program!, words, { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (data: Buffer) => {
    out += data.toString();
  });
  life.own(child, async (each) => {
    if (each.exitCode !== null || each.signalCode !== null) return;
    each.kill('SIGTERM');
    await once(each, 'close');
  });
  return { output: () => out, enter: () => child.stdin.write('\n') };
}

describe('the rigs of two arms, each with simulators of their controllers', {
  skip: needs('network namespaces'),
  timeout: 240_000,
}, () => {
  const life = new Lifetime();
  afterEach(() => life.end());

  for (const { rig, arm, leaders, names } of RIGS)
    it(`${rig}: both move, one stop ends both, one recording`, async () => {
      const { within } = await openNetwork(life);
      const { start, run } = inside(within, life);
      const folder = temporaryFolder();
      const arms = SIDES.map((side) => arm(side, path.join(folder, `${side}.tty`)));
      const sims = arms.map(({ sim }) => start(['sim', ...sim, '--json']));
      for (const sim of sims) await sim.waitFor(/ready/);
      const base = ['--rig', rig, 'link.security=plain', ...PATIENT];
      const robot = start(['robot', ...base, '--json', ...arms.flatMap(({ settings }) => settings)]);
      const input = leaders
        ? ['operator.input=joints']
        : ['operator.input=scripted', 'operator.inputs.scripted={}'];
      const recordings = path.join(folder, 'recordings');
      start(['operator', ...base, ...input, `record.dir=${recordings}`, `trace.dir=${folder}`]);
      await robot.waitFor(/"kind":"ready"/);
      const persons = SIDES.filter(() => leaders !== undefined).map((side) => {
        const tty = path.join(folder, `${side}-leader.tty`);
        return { side, sim: start(['sim', 'dk1-leader', '--port', tty, '--sway', '10']), tty };
      });
      for (const { sim } of persons) await sim.waitFor(/ready/);
      const leading = persons.map(({ tty, side }) =>
        startLeader(['--port', tty, '--joints', String(leaders![side])], within, life),
      );
      const states = () => SIDES.map((side) => lastState(robot, side));
      const why = () => `${robot.stdout()}\n${robot.stderr()}\n${leading.map(({ output }) => output())}`;
      await armed(base, run, why);
      const restRad = sims.map((sim) => positionsOf(sim)!);
      for (const leader of leading) leader.enter();
      await until('both engaged', () => states().every((state) => state === 'engaged'), why);
      await run(['record', 'start', ...base, '--within', '20000']);
      const movedRad = (i: number) =>
        Math.max(...positionsOf(sims[i]!)!.map((rad, joint) => Math.abs(rad - restRad[i]![joint]!)));
      await until('both move', () => movedRad(0) > 0.05 && movedRad(1) > 0.05, why);
      await sleep(1500);

      await run(['ask', 'estop', ...base, '--within', '20000']);
      await until('both stopped', () => states().every((state) => state === 'stopped'), why);
      const stops = SIDES.map((side) =>
        linesOf<SideTransition>(robot, 'transition').findLast((each) => each.side === side),
      );
      const apartMs = Math.abs(stops[0]!.robotNs - stops[1]!.robotNs) / 1e6;
      // One cycle; the loop itself may be late on a busy machine.
      assert.ok(apartMs < 50, `${apartMs} ms apart`);
      await sleep(500);
      const stoodRad = sims.map((sim) => positionsOf(sim)!);
      await sleep(500);
      sims.forEach((sim, i) => {
        positionsOf(sim)!.forEach((rad, joint) => {
          assert.ok(Math.abs(rad - stoodRad[i]![joint]!) < 0.02, `${SIDES[i]} joint ${joint} went on`);
        });
      });

      await run(['record', 'stop', ...base, '--within', '20000']);
      assert.equal(readdirSync(recordings).filter((name) => name.endsWith('.mcap')).length, 1);
      const dataset = path.join(folder, 'dataset');
      await run(['export', 'lerobot', dataset, '--from', recordings]);
      const info = JSON.parse(readFileSync(path.join(dataset, 'meta/info.json'), 'utf8')) as {
        features: Record<string, { names: string[] }>;
      };
      for (const feature of ['action', 'observation.state']) {
        const found = info.features[feature]!.names;
        assert.deepEqual([found[0], found.at(-1)], names);
        assert.equal(found.filter((name) => name.startsWith('left_')).length, found.length / 2);
      }
    });
});

describe('two arms on two machines', { skip: needs('network namespaces'), timeout: 240_000 }, () => {
  const life = new Lifetime();
  afterEach(() => life.end());

  function cable(desk: string, robot: string, name: Side, net: string): void {
    const ip = (...args: string[]) => {
      const { status, stderr } = spawnSync('ip', args, { encoding: 'utf8' });
      assert.equal(status, 0, `ip ${args.join(' ')}: ${stderr}`);
    };
    ip('link', 'add', 'name', name, 'netns', desk, 'type', 'veth', 'peer', 'name', 'cable', 'netns', robot);
    for (const [pid, device, host] of [
      [desk, name, 1],
      [robot, 'cable', 2],
    ] as const) {
      const within = ['nsenter', '-t', pid, '-n', 'ip'];
      for (const words of [
        ['address', 'add', `${net}.${host}/24`, 'dev', device],
        ['link', 'set', device, 'up'],
      ])
        assert.equal(spawnSync(within[0]!, [...within.slice(1), ...words]).status, 0);
    }
  }

  it('a stop of one crosses to the other through the operator', async () => {
    const nets: Record<Side, string> = { left: '10.0.1', right: '10.0.2' };
    const desk = await openNetwork(life);
    const folder = temporaryFolder();
    const keyFile = path.join(folder, 'pair.key');
    writeKeyFile(keyFile, { name: 'pair', key: createKey(), createdAt: new Date().toISOString() });
    const base = ['--rig', 'ur3-both', 'arms.apart=true', `link.keyFile=${keyFile}`, ...PATIENT];
    for (const side of SIDES)
      base.push(`arms.${side}.link.robotHost=${nets[side]}.2`, ...urArm(side, '127.0.0.1').settings);
    const machines = {} as Record<Side, { sim: Running; robot: Running }>;
    for (const side of SIDES) {
      const machine = await openNetwork(life);
      cable(desk.pid, machine.pid, side, nets[side]);
      const { start } = inside(machine.within, life);
      const sim = start(['sim', 'ur', '--json']);
      await sim.waitFor(/ready/);
      const robot = start(['robot', ...base, '--arm', side, '--listen', `${nets[side]}.2`, '--json']);
      machines[side] = { sim, robot };
    }
    for (const { robot } of Object.values(machines)) await robot.waitFor(/"kind":"ready"/);
    const { start, run } = inside(desk.within, life);
    start([
      'operator',
      ...base,
      'operator.input=scripted',
      'operator.inputs.scripted={}',
      `trace.dir=${folder}`,
    ]);
    const states = () => SIDES.map((side) => lastState(machines[side].robot, side));
    const why = () => SIDES.map((side) => `${machines[side].robot.stdout()}\n`).join('');
    const engage = async () => {
      await armed(base, run, why);
      await until('both engaged', () => states().every((state) => state === 'engaged'), why);
    };
    await engage();
    const { left, right } = machines;
    const byHand = left.sim.process;
    byHand.kill('SIGUSR1');
    await until('both stopped', () => states().every((state) => state === 'stopped'), why);
    const cause = linesOf<SideTransition>(right.robot, 'transition').at(-1)!.cause;
    assert.match(cause, /e-stop pressed/);
  });
});
