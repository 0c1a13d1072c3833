import { z } from 'zod';
import { TeleopError } from '../core/errors.ts';
import { parseJson } from '../core/parse-json.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { ConsoleHello } from '../messages/console.ts';
import type { AccessState } from '../messages/console-access.ts';
import type { Telemetry } from '../messages/telemetry.ts';
import { parseTelemetry } from '../messages/telemetry-schema.ts';

/** A hand pose: the console's world frame, x right, y up, z toward the person. */
export interface HandPose {
  positionM: readonly [number, number, number];
  quatXyzw: readonly [number, number, number, number];
  /** 0 open … 1 closed. */
  gripper: number;
  /** True: the robot shall follow. */
  clutch: boolean;
}

export type Action = 'arm' | 'disarm' | 'reset' | 'hold' | 'teleop' | 'home' | 'estop';
type Access = Omit<AccessState, 'kind'>;

const MAX_MESSAGE_BYTES = 4 << 20;
const WAIT_MS = 5000;
const NOBODY: Access = { role: 'viewer', inControl: false, holder: null, pages: 0 };
const message = z.looseObject({ kind: z.string() });
const accessState: z.ZodType<Access> = z.object({
  ...{ role: z.enum(['operator', 'viewer']), inControl: z.boolean() },
  ...{ holder: z.string().nullable(), pages: z.number() },
});

/** What a session uses of its WebSocket: a program that imports this needs no types of the package `ws`. */
export interface PageSocket {
  readonly readyState: number;
  readonly OPEN: number;
  on(event: 'message', take: (data: unknown) => void): unknown;
  on(event: 'error' | 'close', end: () => void): unknown;
  send(text: string): void;
  close(): void;
}

/** A connection to a console, made by `connect`. One connection at a time is in control; the others watch. */
export class Session {
  /** Identifies this program to the console; keep it to connect again without a code. */
  readonly token: string;
  readonly model: RobotModel;
  /** Called for each message of telemetry, about 30 times a second. */
  onTelemetry: ((telemetry: Telemetry) => void) | null = null;
  /** Called once when the connection ends. */
  onClose: (() => void) | null = null;
  #telemetry: Telemetry | null = null;
  #access: Access = NOBODY;
  #refusal = '';
  #isOpen = true;
  readonly #socket: PageSocket;
  readonly #waiting = new Set<() => void>();

  constructor(socket: PageSocket, token: string, hello: ConsoleHello) {
    this.#socket = socket;
    this.token = token;
    this.model = hello.model;
    socket.on('message', (data) => this.#take(String(data)));
    socket.on('error', () => {});
    socket.on('close', () => this.#end());
  }

  /** The newest telemetry; null before the first. */
  get telemetry(): Telemetry | null {
    return this.#telemetry;
  }

  /** Role of this connection, and who is in control. */
  get access(): Readonly<Access> {
    return this.#access;
  }

  /** Takes control of the robot, also from another page. */
  async take(): Promise<void> {
    this.#send({ kind: 'control', action: 'take' });
    await this.#until('control', () => this.#access.inControl);
  }

  release(): void {
    this.#send({ kind: 'control', action: 'release' });
  }

  /** Requests something of the operator. An e-stop needs no control. Does not wait for its effect: use `until`. */
  request(action: Action): void {
    this.#refusal = '';
    this.#send({ kind: action });
  }

  /** Selects the input that drives; `page` is the one that `hand` feeds. */
  async useInput(name: string): Promise<void> {
    this.#refusal = '';
    this.#send({ kind: 'input', name });
    await this.until((telemetry) => telemetry.input.active === name, WAIT_MS, `input ${name}`);
  }

  /** Sends the hand's pose. The robot holds when none arrives for a while: send at 30 to 90 Hz. */
  hand(pose: HandPose): void {
    this.#send({ kind: 'hand', ...pose, takenMs: performance.now() });
  }

  /** Starts an episode and waits until it is being written. */
  async startRecording(task: string): Promise<void> {
    this.#refusal = '';
    this.#send({ kind: 'record', action: 'start', task });
    await this.until(({ record }) => record?.state === 'recording', WAIT_MS, 'record start');
  }

  /** Saves the episode, with a label if one is given; resolves with its name. */
  async stopRecording(label?: string): Promise<string> {
    this.#refusal = '';
    this.#send({ kind: 'record', action: 'stop', ...(label === undefined ? {} : { label }) });
    const done = await this.until(({ record }) => record?.state !== 'recording', WAIT_MS, 'record stop');
    return done.record?.episode ?? '';
  }

  /** Deletes the episode that is being written. */
  discardRecording(): void {
    this.#send({ kind: 'record', action: 'discard' });
  }

  /** Resolves with the first telemetry that fulfils the condition; rejects after `withinMs`, or if refused. */
  async until(
    condition: (telemetry: Telemetry) => boolean,
    withinMs = WAIT_MS,
    what = 'the condition',
  ): Promise<Telemetry> {
    const isTrue = () => this.#telemetry !== null && condition(this.#telemetry);
    await this.#until(what, isTrue, withinMs);
    return this.#telemetry!;
  }

  close(): void {
    this.#socket.close();
  }

  #until(what: string, isTrue: () => boolean, withinMs = WAIT_MS): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error?: TeleopError) => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        if (error === undefined) resolve();
        else reject(error);
      };
      const look = () => {
        if (isTrue()) settle();
        else if (!this.#isOpen) settle(unconfirmed(what, 'the console closed the connection'));
        else if (this.#refusal !== '') settle(unconfirmed(what, this.#refusal));
      };
      const timer = setTimeout(
        () => settle(unconfirmed(what, `not within ${withinMs} ms${this.#state()}`)),
        withinMs,
      );
      this.#waiting.add(look);
      look();
    });
  }

  /** For error messages. */
  #state(): string {
    if (this.#telemetry === null) return '; no telemetry yet';
    const { robot, input } = this.#telemetry;
    const { state, cause } = robot ?? { state: 'unknown', cause: 'no state from it' };
    return `; robot ${state} (${cause}), input ${input.active} ${input.status}`;
  }

  #send(request: object): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(request));
  }

  #take(text: string): void {
    const receivedNs = performance.now() * 1e6;
    const parsed = parseJson(text, message, MAX_MESSAGE_BYTES);
    if (typeof parsed === 'string') return;
    if (parsed.kind === 'probe') {
      this.#send({ kind: 'probed', t0: parsed['t0'], t1: receivedNs, t2: performance.now() * 1e6 });
      return;
    }
    if (parsed.kind === 'telemetry') return this.#takeTelemetry(text);
    if (parsed.kind === 'access') this.#access = accessState.safeParse(parsed).data ?? this.#access;
    if (parsed.kind === 'refused') this.#refusal = REFUSALS[String(parsed['reason'])] ?? 'refused';
    for (const look of [...this.#waiting]) look();
  }

  #takeTelemetry(text: string): void {
    const telemetry = parseTelemetry(new TextEncoder().encode(text));
    if (typeof telemetry === 'string') return;
    this.#telemetry = telemetry;
    for (const look of [...this.#waiting]) look();
    this.onTelemetry?.(telemetry);
  }

  #end(): void {
    this.#isOpen = false;
    for (const look of [...this.#waiting]) look();
    this.onClose?.();
  }
}

const REFUSALS: Record<string, string> = {
  viewer: 'this program was paired as a viewer',
  'not-in-control': 'another page is in control',
  malformed: 'the console does not understand the request',
};

const unconfirmed = (what: string, why: string): TeleopError =>
  new TeleopError('not-confirmed', `${what}: ${why}`, {
    hint: 'Call `take()` first, and look at `session.telemetry.robot` for the robot’s state and cause.',
  });
