import { createSocket, type Socket } from 'node:dgram';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SimLine } from '../../sim/narrator.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { askOperator } from '../../src/desk/ask.ts';
import { emptyRctp, encodeRctp, RCTP_BYTES } from '../../src/input/codecs/rctp-codec.ts';
import type { SupervisorState } from '../../src/messages/robot-state.ts';
import { loadRig, type Rig } from '../../src/rig/rig.ts';
import type { Transition } from '../../src/robot/supervisor/states.ts';
import { createKey, writeKeyFile } from '../../src/wire/secure/key-file.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { Lifetime } from '../lifetime.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Running, startFarhand } from './farhand.ts';

const HAND_MS = 20;
export const APART_M = 0.5;
const SILENCE_MS = 500;

/** A process that reports in JSON lines; keeps those of one kind. */
class ReportedBy<T> {
  readonly lines: T[] = [];
  readonly process: Running;

  constructor(kind: string, args: string[]) {
    this.process = startFarhand([...args, '--json']);
    let rest = '';
    this.process.process.stdout!.on('data', (data: Buffer) => {
      const texts = (rest + data.toString()).split('\n');
      rest = texts.pop()!;
      for (const text of texts) if (text.includes(`"kind":"${kind}"`)) this.lines.push(JSON.parse(text) as T);
    });
  }
}

/** One follower: simulated arm, robot and operator, each a process; and the hand that leads it, sent from here. */
export class Follower {
  readonly sim: ReportedBy<Extract<SimLine, { kind: 'arm' }>>;
  readonly operator: Running;
  robot!: ReportedBy<Transition>;
  /** Where the hand is, in its own frame: X right, Y up, −Z forward. */
  readonly handM = [0, 1, -0.4];
  readonly #rig: Rig;
  readonly #roleArgs: string[];
  readonly #packet = emptyRctp();
  readonly #bytes = new Uint8Array(RCTP_BYTES);
  readonly #handPort: number;

  constructor(rigName: string, tty: string, settings: string[], handPort: number) {
    this.#rig = loadRig(rigName, settings).config;
    this.#handPort = handPort;
    this.#roleArgs = ['--rig', rigName, ...settings, `robot.options.bus=damiao:${tty}`];
    this.sim = new ReportedBy('arm', ['sim', 'dk1', '--serial', tty]);
    this.operator = startFarhand(['operator', ...this.#roleArgs]);
  }

  async ready(): Promise<void> {
    await this.sim.process.waitFor(/ready/);
    this.robot = new ReportedBy('transition', ['robot', ...this.#roleArgs]);
    await this.robot.process.waitFor(/"kind":"ready"/);
  }

  get jointsRad(): number[] {
    return this.sim.lines.at(-1)!.positionsRad;
  }

  get state(): SupervisorState | undefined {
    return this.robot.lines.at(-1)?.to;
  }

  ask(kind: string): Promise<unknown> {
    return askOperator(this.#rig, kind, 20_000);
  }

  /** The first transition to `state` after `sinceNs`. */
  async entered(state: SupervisorState, sinceNs = 0, withinMs = 30_000): Promise<Transition> {
    const untilMs = performance.now() + withinMs;
    for (;;) {
      const found = this.robot.lines.find(({ to, robotNs }) => to === state && robotNs > sinceNs);
      if (found !== undefined) return found;
      if (performance.now() > untilMs)
        throw new Error(
          `not ${state}: ${JSON.stringify(this.robot.lines.at(-1))}\n${this.operator.stderr()}`,
        );
      await sleep(5);
    }
  }

  send(socket: Socket, seconds: number): void {
    const packet = this.#packet;
    packet.timestampS = seconds;
    packet.positionM.set(this.handM);
    packet.gripper = 1;
    packet.tracking = true;
    encodeRctp(packet, this.#bytes);
    socket.send(this.#bytes.slice(), this.#handPort, '127.0.0.1', () => {});
  }

  async end(): Promise<void> {
    await this.operator.end();
    await this.robot?.process.end();
    await this.sim.process.end();
  }
}

/** Two DK1 followers as a pair, led by both hands of one headset. */
export class TwoArms {
  readonly right: Follower;
  readonly left: Follower;
  readonly #life: Lifetime;
  readonly #headset: Socket;
  #hands: NodeJS.Timeout | undefined;

  private constructor(life: Lifetime, folder: string, ports: readonly number[]) {
    this.#life = life;
    this.#headset = life.own(createSocket('udp4'), (socket) => socket.close());
    const [rightPair, leftPair, rightHand, leftHand] = ports as [number, number, number, number];
    const follower = (name: string, at: number, pair: [number, number], baseYM: number): Follower => {
      const keys = ['link.commandPort', 'link.statePort', 'link.syncPort'];
      keys.push('console.deskPort', 'console.telemetryPort');
      const settings = [
        `link.keyFile=${path.join(folder, 'test.key')}`,
        `trace.dir=${folder}`,
        `operator.inputs.rctp.rightPort=${rightHand}`,
        `operator.inputs.rctp.leftPort=${leftHand}`,
        ...keys.map((key, i) => `${key}=${ports[at + i]}`),
        `robot.pair={model: dk1, port: ${pair[0]}, otherPort: ${pair[1]}, baseXyzM: [0, ${baseYM}, 0], silenceMs: ${SILENCE_MS}}`,
        // Six processes on a busy machine: longer timeouts than a real set-up has.
        'operator.inputs.joints.port=0',
        'robot.options.feedbackTimeoutMs=800',
        'robot.feedbackTimeoutMs=800',
        'robot.commandTimeoutMs=500',
        'operator.inputs.rctp.staleAfterMs=500',
      ];
      const hand = name === 'dk1' ? rightHand : leftHand;
      return life.own(new Follower(name, path.join(folder, `${name}.tty`), settings, hand), (each) =>
        each.end(),
      );
    };
    this.right = follower('dk1', 4, [rightPair, leftPair], APART_M);
    this.left = follower('dk1-left', 9, [leftPair, rightPair], -APART_M);
  }

  /** Started and armed; no hand is visible yet. */
  static async start(): Promise<TwoArms> {
    const folder = temporaryFolder();
    const key = { name: 'test', key: createKey(), createdAt: '2026-01-01T00:00:00Z' };
    writeKeyFile(path.join(folder, 'test.key'), key);
    const life = new Lifetime();
    return life.setUp(async () => {
      const two = new TwoArms(life, folder, await freeUdpPorts(14));
      await two.both((arm) => arm.ready());
      await two.both((arm) => arm.ask('arm'));
      return two;
    });
  }

  both<T>(work: (arm: Follower) => Promise<T>): Promise<T[]> {
    return Promise.all([work(this.right), work(this.left)]);
  }

  /** Both follow, whatever their state now; a busy machine may have stopped them. */
  async engage(): Promise<void> {
    for (let tries = 0; tries < 5; tries++) {
      for (const arm of [this.right, this.left]) if (arm.state === 'stopped') await arm.ask('reset');
      // The first may have been stopped again by the one not reset yet.
      if (await this.until(() => [this.right, this.left].every(({ state }) => state !== 'stopped'), 300))
        break;
    }
    await this.both((arm) => {
      const request = { idle: 'arm', hold: 'teleop' }[String(arm.state)];
      return request === undefined ? Promise.resolve() : arm.ask(request);
    });
    if (await this.until(() => [this.right, this.left].every(({ state }) => state === 'engaged'), 20_000))
      return;
    throw new Error([this.right, this.left].map(({ robot }) => JSON.stringify(robot.lines.at(-1))).join());
  }

  /** From now on the headset sees both hands. */
  seeHands(): void {
    const startNs = monotonicClock.nowNs();
    this.#hands = setInterval(() => {
      const seconds = (monotonicClock.nowNs() - startNs) / 1e9;
      for (const arm of [this.right, this.left]) arm.send(this.#headset, seconds);
    }, HAND_MS);
  }

  /** Polls until it is true; false when it took too long. */
  async until(isSo: () => boolean, withinMs = 20_000): Promise<boolean> {
    for (const endMs = performance.now() + withinMs; !isSo(); await sleep(HAND_MS))
      if (performance.now() > endMs) return false;
    return true;
  }

  /** Hands glide by these metres; `each` is called at every step. */
  async move(right: number[], left: number[], ms: number, each: () => void = () => {}): Promise<void> {
    const from = [[...this.right.handM], [...this.left.handM]] as const;
    const startMs = performance.now();
    for (let share = 0; share < 1; ) {
      await sleep(HAND_MS);
      share = Math.min(1, (performance.now() - startMs) / ms);
      for (let i = 0; i < 3; i++) {
        this.right.handM[i] = from[0][i]! + share * right[i]!;
        this.left.handM[i] = from[1][i]! + share * left[i]!;
      }
      each();
    }
  }

  end(): Promise<void> {
    clearInterval(this.#hands);
    return this.#life.end();
  }
}
