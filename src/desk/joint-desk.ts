import { createSocket, type Socket } from 'node:dgram';
import { setTimeout as sleep } from 'node:timers/promises';
import { TeleopError } from '../core/errors.ts';
import type { StateSample } from '../messages/state-sample.ts';
import type { Telemetry } from '../messages/telemetry.ts';
import type { Rig } from '../rig/rig.ts';
import { writeFrame } from '../wire/codecs/frame.ts';
import { openTelemetryFeed, type TelemetryFeed } from './telemetry-feed.ts';

const HOST = '127.0.0.1';
const POLL_MS = 20;
const ASK_AGAIN_MS = 200;
const DEFAULT_PORT = 4770;
/** Telemetry arrives 30 times a second. */
const SILENT_MS = 1000;

export interface SeenTelemetry extends Telemetry {
  /** When it arrived, `performance.now()`. */
  seenMs: number;
}

/** Lets programs send joint targets to a running operator on this machine, and read its telemetry. */
export class JointDesk {
  readonly #rig: Rig;
  readonly #socket: Socket;
  readonly #feed: TelemetryFeed;
  readonly #port: number;
  #newest: SeenTelemetry | null = null;

  private constructor(rig: Rig, socket: Socket, port: number, onState?: (state: StateSample) => void) {
    this.#rig = rig;
    this.#socket = socket;
    this.#port = port;
    this.#feed = openTelemetryFeed(
      rig,
      (telemetry) => {
        this.#newest = { ...telemetry, seenMs: performance.now() };
      },
      onState,
    );
  }

  /** `onState` receives every new state of the robot. */
  static async open(rig: Rig, onState?: (state: StateSample) => void): Promise<JointDesk> {
    const socket = createSocket('udp4');
    socket.on('error', () => {});
    await new Promise<void>((resolve) => socket.bind(0, HOST, resolve));
    const port = Number(rig.operator.inputs['joints']?.['port'] ?? DEFAULT_PORT);
    return new JointDesk(rig, socket, port, onState);
  }

  /** The operator's newest telemetry; null before the first, and after a second of silence. */
  get newest(): SeenTelemetry | null {
    return this.#newest !== null && performance.now() - this.#newest.seenMs < SILENT_MS ? this.#newest : null;
  }

  /** Whether the operator accepts targets from here, not from a program that sent them a moment ago. */
  get isAdmitted(): boolean {
    const { port } = this.#socket.address();
    const stream = this.newest?.input.streams?.find(({ name }) => name === 'joints');
    return stream?.from === `${HOST}:${port}`;
  }

  /** Sends a request to the operator, as the page does. */
  ask(request: { kind: string; name?: string }): void {
    const bytes = new Uint8Array(256);
    this.#socket.send(
      bytes,
      0,
      writeFrame('request', request, bytes),
      this.#rig.console.deskPort,
      HOST,
      () => {},
    );
  }

  /** Sends one joint target. `clutch`: the robot follows it. `source`: who drives, for people and recordings. */
  target(
    jointsRad: ArrayLike<number>,
    gripper: number,
    clutch: boolean,
    source: 'policy' | 'program' = 'program',
  ): void {
    const rounded = Array.from(jointsRad, (rad) => Math.round(rad * 1e7) / 1e7);
    const open = Math.min(1, Math.max(0, gripper));
    this.#socket.send(
      JSON.stringify({ jointsRad: rounded, gripper: open, clutch, source }),
      this.#port,
      HOST,
      () => {},
    );
  }

  /** Makes `joints` the operator's active input; it must be one of those it was started with. */
  async take(withinMs: number): Promise<SeenTelemetry> {
    let askedMs = Number.NEGATIVE_INFINITY;
    return this.until(
      (seen) => {
        if (!seen.input.available.includes('joints')) throw noJoints(seen.input.available);
        if (seen.input.active === 'joints' && seen.robot !== null && seen.link.connected) return true;
        if (performance.now() - askedMs < ASK_AGAIN_MS) return false;
        askedMs = performance.now();
        if (seen.input.active !== 'joints') this.ask({ kind: 'input', name: 'joints' });
        return false;
      },
      withinMs,
      'the operator did not switch to the input "joints", or has no robot',
      'Run this on the operator’s machine with its rig and settings, and check that the robot is connected.',
    );
  }

  /** Resolves with the first telemetry for which `isSo` holds. */
  async until(
    isSo: (seen: SeenTelemetry) => boolean,
    withinMs: number,
    otherwise: string,
    hint: string,
  ): Promise<SeenTelemetry> {
    const untilMs = performance.now() + withinMs;
    for (;;) {
      const seen = this.newest;
      if (seen !== null && isSo(seen)) return seen;
      if (performance.now() > untilMs)
        throw new TeleopError(
          'not-confirmed',
          seen === null ? `${otherwise}: no operator answers` : otherwise,
          { hint },
        );
      await sleep(POLL_MS);
    }
  }

  close(): void {
    this.#feed.close();
    this.#socket.close();
  }
}

const noJoints = (available: readonly string[]): TeleopError =>
  new TeleopError('bad-config', `the operator has no input "joints", only ${available.join(', ')}`, {
    hint: 'Start it with operator.inputs.joints={}, or write `joints: {}` under operator.inputs of its rig.',
  });
