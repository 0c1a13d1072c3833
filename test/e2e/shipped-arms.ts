import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SimLine } from '../../sim/narrator.ts';
import type { SupervisorState } from '../../src/messages/robot-state.ts';
import type { Transition } from '../../src/robot/supervisor/states.ts';
import type { Lifetime } from '../lifetime.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { farhand, type Running, root, startFarhand } from './farhand.ts';

export const SIDES = ['left', 'right'] as const;
export type Side = (typeof SIDES)[number];
export type SideTransition = Transition & { kind: 'transition'; side: Side | null };

export interface ShippedRig {
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

export const SHIPPED_RIGS: readonly ShippedRig[] = [
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
export const urArm = (side: Side, host: string) => ({
  sim: ['ur', '--host', host],
  settings: [`arms.${side}.robot.options.host=${host}`],
});

/** A busy machine stalls. This tests that everything fits together, not the watchdogs. */
export const PATIENT = ['operator.outageHoldS=2', 'arms.silenceMs=500'];

/** A network of its own: every port is the rig's. */
export async function openNetwork(life: Lifetime): Promise<{ pid: string; within: string[] }> {
  const keeper = spawn('unshare', ['-n', 'sh', '-c', 'ip link set lo up; echo up; exec sleep 600'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  life.own(keeper, (each) => void each.kill('SIGKILL'));
  await once(keeper.stdout!, 'data');
  const pid = String(keeper.pid);
  return { pid, within: ['nsenter', '-t', pid, '-n'] };
}

export const linesOf = <T>(running: Running, kind: string): T[] =>
  running
    .stdout()
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.includes(`"kind":"${kind}"`))
    .map((line) => JSON.parse(line) as T);

const positionsOf = (sim: Running): number[] | undefined =>
  linesOf<Extract<SimLine, { kind: 'arm' }>>(sim, 'arm').at(-1)?.positionsRad;

export async function until(
  what: string,
  isSo: () => boolean,
  why: () => string,
  seconds = 60,
): Promise<void> {
  for (let i = 0; i < seconds * 20; i++) {
    if (isSo()) return;
    await sleep(50);
  }
  assert.fail(`${what}: ${why()}`);
}

/** Runs verbs inside a network; what it starts ends with `life`. */
export function inside(within: readonly string[], life: Lifetime) {
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
export async function armed(
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

export const lastState = (robot: Running, side: Side): string | undefined =>
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
  return { output: () => out, enter: () => void child.stdin.write('\n') };
}

export interface Recorded {
  /** The only file of the recording. */
  file: string;
  dataset: string;
  /** Where the joints of each arm stood at the end, according to its simulator. */
  stoodRad: number[][];
}

/** The rig's robot, operator and simulators in a network of their own, both arms following. */
async function startBoth({ rig, arm, leaders }: ShippedRig, recordings: string, life: Lifetime) {
  const { within } = await openNetwork(life);
  const { start, run } = inside(within, life);
  const folder = temporaryFolder();
  const arms = SIDES.map((side) => arm(side, path.join(folder, `${side}.tty`)));
  const sims = arms.map(({ sim }) => start(['sim', ...sim, '--json']));
  for (const sim of sims) await sim.waitFor(/ready/);
  const base = ['--rig', rig, 'link.security=plain', ...PATIENT];
  const robot = start(['robot', ...base, '--json', ...arms.flatMap(({ settings }) => settings)]);
  const kept = [`record.dir=${recordings}`, `trace.dir=${folder}`];
  start(['operator', ...base, ...(leaders ? ['operator.input=joints'] : SCRIPTED), ...kept]);
  await robot.waitFor(/"kind":"ready"/);
  const leading = leaders ? await startLeaders(leaders, folder, within, life) : [];
  const why = () => `${robot.stdout()}\n${robot.stderr()}\n${leading.map(({ output }) => output())}`;
  const untilBoth = (what: SupervisorState) =>
    until(`both ${what}`, () => SIDES.every((side) => lastState(robot, side) === what), why);
  await armed(base, run, why);
  const untilFollowing = () => follows(robot, leading, why);
  await untilFollowing();
  return {
    sims,
    robot,
    why,
    untilBoth,
    untilFollowing,
    ask: (...words: string[]) => run([...words, ...base]),
  };
}

/** Where a stall has ended an engagement, the person opens and closes the leader's clutch. */
async function follows(robot: Running, leading: readonly { enter(): void }[], why: () => string) {
  let pressedMs = Number.NEGATIVE_INFINITY;
  const bothFollow = () => {
    const held = SIDES.filter((side) => lastState(robot, side) !== 'engaged');
    if (held.length > 0 && performance.now() - pressedMs > 2000) {
      pressedMs = performance.now();
      for (const side of held) leading[SIDES.indexOf(side)]?.enter();
    }
    return held.length === 0;
  };
  await until('both follow', bothFollow, why);
}

/** Both arms move differently, one stop ends both, and the one recording of it becomes a dataset. */
export async function recordShipped(shipped: ShippedRig, life: Lifetime): Promise<Recorded> {
  const folder = temporaryFolder();
  const recordings = path.join(folder, 'recordings');
  const { sims, robot, why, untilBoth, untilFollowing, ask } = await startBoth(shipped, recordings, life);
  await ask('record', 'start', '--within', '20000');
  await untilFollowing();
  const fromRad = sims.map((sim) => positionsOf(sim)!);
  const moved = () => sims.every((sim, i) => apartRad(positionsOf(sim)!, fromRad[i]!) > 0.05);
  await until('both move', moved, why);
  await sleep(1500);

  await ask('ask', 'estop', '--within', '20000');
  await untilBoth('stopped');
  assertTogether(robot);
  await sleep(500);
  const stoodRad = sims.map((sim) => positionsOf(sim)!);
  await sleep(500);
  for (const [i, sim] of sims.entries())
    assert.ok(apartRad(positionsOf(sim)!, stoodRad[i]!) < 0.02, `${SIDES[i]} went on`);

  await ask('record', 'stop', '--within', '20000');
  const files = readdirSync(recordings).filter((name) => name.endsWith('.mcap'));
  assert.equal(files.length, 1);
  const dataset = path.join(folder, 'dataset');
  const { code, stderr } = await farhand(['export', 'lerobot', dataset, '--from', recordings]);
  assert.equal(code, 0, stderr);
  return { file: path.join(recordings, files[0]!), dataset, stoodRad };
}

const apartRad = (a: readonly number[], b: readonly number[]): number =>
  Math.max(...a.map((rad, joint) => Math.abs(rad - b[joint]!)));

/** One cycle; the loop itself may be late on a busy machine. */
function assertTogether(robot: Running): void {
  const [left, right] = SIDES.map((side) =>
    linesOf<SideTransition>(robot, 'transition').findLast((each) => each.side === side),
  );
  const apartMs = Math.abs(left!.robotNs - right!.robotNs) / 1e6;
  assert.ok(apartMs < 50, `${apartMs} ms apart`);
}

/** The hands differ, so that exchanged arms show. */
const SCRIPTED = [
  ...['operator.input=scripted', 'operator.inputs.scripted={}'],
  'arms.left.operator.inputs.scripted.widthM=0.05',
];
const SWAY_DEG: Record<Side, number> = { left: 6, right: 12 };

async function startLeaders(ports: Record<Side, number>, folder: string, within: string[], life: Lifetime) {
  const { start } = inside(within, life);
  const persons = SIDES.map((side) => {
    const tty = path.join(folder, `${side}-leader.tty`);
    const sim = start(['sim', 'dk1-leader', '--port', tty, '--sway', String(SWAY_DEG[side])]);
    return { sim, leader: ['--port', tty, '--joints', String(ports[side])] };
  });
  for (const { sim } of persons) await sim.waitFor(/ready/);
  return persons.map(({ leader }) => startLeader(leader, within, life));
}
