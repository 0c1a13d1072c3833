import { createSocket } from 'node:dgram';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LinkEmulator, startLinkEmulator } from '../../src/app/link-emulator.ts';
import { type RoleHandle, startRole } from '../../src/app/role.ts';
import { SnapshotBoard } from '../../src/core/memory/snapshot.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { type RobotSnapshot, readRobotBoard } from '../../src/messages/robot-board.ts';
import type { SupervisorState } from '../../src/messages/robot-state.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { writeFrame } from '../../src/wire/codecs/frame.ts';
import { createKey, writeKeyFile } from '../../src/wire/secure/key-file.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { Lifetime } from '../lifetime.ts';
import { patienceOf } from '../patience.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Running, startFarhand } from './farhand.ts';

const SAMPLE_MS = 2;
const START_MS = 30_000;
/** Slower than this counts as rest: an encoder step, not motion. */
const REST_RAD_S = 0.002;

/** A robot in this process, watched at 500 Hz, an operator process and the emulated link between them. */
export class FaultRig {
  readonly seen: RobotSnapshot[] = [];
  readonly link: LinkEmulator;
  readonly #life: Lifetime;
  readonly #operatorArgs: string[];
  readonly #deskPort: number;
  operator!: Running;

  private constructor(
    life: Lifetime,
    link: LinkEmulator,
    robot: RoleHandle,
    operatorArgs: string[],
    deskPort: number,
    joints: number,
  ) {
    this.#life = life;
    this.link = link;
    this.#operatorArgs = operatorArgs;
    this.#deskPort = deskPort;
    const board = new SnapshotBoard(robot.memory.board);
    const sampler = setInterval(() => {
      const snapshot = readRobotBoard(board, joints);
      if (snapshot !== null && snapshot.robotNs !== this.seen.at(-1)?.robotNs) this.seen.push(snapshot);
    }, SAMPLE_MS);
    life.own(sampler, clearInterval);
    this.restartOperator();
  }

  /**
   * `more`: operator settings; `both`: settings of both roles. Returns when the robot is in the state
   * `first`.
   */
  static start(
    more: readonly string[] = [],
    first: SupervisorState = 'engaged',
    rigName = 'demo',
    both: readonly string[] = [],
  ): Promise<FaultRig> {
    const life = new Lifetime();
    return life.setUp(() => FaultRig.#start(life, more, first, rigName, both));
  }

  static async #start(
    life: Lifetime,
    more: readonly string[],
    first: SupervisorState,
    rigName: string,
    both: readonly string[],
  ): Promise<FaultRig> {
    const folder = temporaryFolder();
    const keyFile = path.join(folder, 'test.key');
    writeKeyFile(keyFile, { name: 'test', key: createKey(), createdAt: '2026-01-01T00:00:00Z' });
    const [command, state, sync, desk, telemetry] = await freeUdpPorts(5);
    const ports = [command!, state!, sync!];
    const robotRig = loadRig(rigName, [
      `link.keyFile=${keyFile}`,
      `trace.dir=${folder}`,
      ...portKeys(ports),
      ...patienceOf(both),
      ...both,
    ]).config;
    const robot = life.own(
      startRole('robot', robotRig, () => {}),
      endRole,
    );
    await robot.ready;
    const mappings = ports.map((port) => ({ listen: '0', target: `127.0.0.1:${port}` }));
    const link = life.own(await startLinkEmulator({ mappings }), (each) => each.close());
    const args = [
      'operator',
      '--rig',
      rigName,
      `link.keyFile=${keyFile}`,
      `trace.dir=${folder}`,
      `console.deskPort=${desk}`,
      `console.telemetryPort=${telemetry}`,
      ...portKeys(link.ports),
      ...both,
      ...more,
    ];
    const rig = new FaultRig(life, link, robot, args, desk!, loadModel(robotRig.model).joints.length);
    await rig.waitFor(first, START_MS, () => rig.operator.process.exitCode === null);
    return rig;
  }

  get last(): RobotSnapshot {
    return this.seen.at(-1)!;
  }

  /** Gives up early once it is no longer `possible`. */
  async waitFor(
    state: SupervisorState,
    timeoutMs = 30_000,
    possible: () => boolean = () => true,
  ): Promise<RobotSnapshot> {
    const untilMs = performance.now() + timeoutMs;
    while (performance.now() < untilMs && possible()) {
      if (this.seen.at(-1)?.state === state) return this.last;
      await sleep(SAMPLE_MS);
    }
    throw new Error(
      `robot is ${this.seen.at(-1)?.state} (${this.seen.at(-1)?.cause}), not ${state}:\n${this.operator.stdout()}\n${this.operator.stderr()}`,
    );
  }

  /** Sends a request as the console would. */
  async ask(kind: 'arm' | 'disarm' | 'reset' | 'estop'): Promise<void> {
    const out = new Uint8Array(128);
    const length = writeFrame('request', { kind }, out);
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) =>
      socket.send(out, 0, length, this.#deskPort, '127.0.0.1', () => resolve()),
    );
    socket.close();
  }

  restartOperator(): void {
    this.operator = this.#life.own(startFarhand(this.#operatorArgs), (each) => each.end());
  }

  nowNs = (): number => monotonicClock.nowNs();

  /** When the measured joints last moved within [fromNs, toNs], or `fromNs`. */
  lastMotionNs(fromNs: number, toNs = Number.POSITIVE_INFINITY): number {
    let lastNs = fromNs;
    for (const [a, b] of this.#pairs(fromNs, toNs)) if (speed(a, b) > REST_RAD_S) lastNs = b.robotNs;
    return lastNs;
  }

  /** The highest speed measured at any joint. */
  topSpeedRadS(fromNs: number, toNs = Number.POSITIVE_INFINITY): number {
    let top = 0;
    for (const [a, b] of this.#pairs(fromNs, toNs)) top = Math.max(top, speed(a, b));
    return top;
  }

  /** Sequence numbers must never decrease while one operator is in control. */
  seqFalls(fromNs: number): number {
    let falls = 0;
    for (const [a, b] of this.#pairs(fromNs, Number.POSITIVE_INFINITY))
      if (b.appliedSeq < a.appliedSeq) falls++;
    return falls;
  }

  *#pairs(fromNs: number, toNs: number): Generator<[RobotSnapshot, RobotSnapshot]> {
    for (let i = 1; i < this.seen.length; i++) {
      const [a, b] = [this.seen[i - 1]!, this.seen[i]!];
      if (a.robotNs >= fromNs && b.robotNs <= toNs) yield [a, b];
    }
  }

  close(): Promise<void> {
    return this.#life.end();
  }
}

async function endRole(role: RoleHandle): Promise<void> {
  role.windDown();
  await role.done;
}

const portKeys = (ports: readonly number[]): string[] =>
  ['commandPort', 'statePort', 'syncPort'].map((key, i) => `link.${key}=${ports[i]}`);

function speed(a: RobotSnapshot, b: RobotSnapshot): number {
  let most = 0;
  for (let i = 0; i < a.measuredRad.length; i++)
    most = Math.max(most, Math.abs(b.measuredRad[i]! - a.measuredRad[i]!));
  return most / ((b.robotNs - a.robotNs) / 1e9);
}
