import { createSocket, type Socket } from 'node:dgram';
import { TeleopError } from '../core/errors.ts';
import type { Telemetry } from '../core/telemetry.ts';
import { encodeHello } from '../wire/codecs/desk.ts';
import { writeFrame } from '../wire/codecs/frame.ts';
import type { Rig } from './rig.ts';

const HOST = '127.0.0.1';
const REPEAT_MS = 100;

export interface DeskAnswer {
  /** From the first datagram to the first telemetry that says so. */
  tookMs: number;
  state: string;
  cause: string;
}

type Robot = NonNullable<Telemetry['robot']>;

/**
 * Asks the operator process on this machine to stop or reset the robot, again and again until the robot's own state
 * says that it is done. Throws when it does not within `withinMs`; what was sent stays in force.
 */
export async function askDesk(rig: Rig, kind: 'estop' | 'reset', withinMs: number): Promise<DeskAnswer> {
  const socket = await openSocket();
  const send = sender(socket);
  const { deskPort, telemetryPort } = rig.console;
  const request = () => send(deskPort, (bytes) => writeFrame('request', { kind }, bytes));
  let startMs = performance.now();
  let heard = false;
  let seen: Robot | null = null;
  const ask = () => {
    // A stop is asked for blindly, a reset only of a robot known to be stopped.
    if (kind === 'estop' || seen?.state === 'stopped') request();
    send(telemetryPort, (bytes) => encodeHello(1, bytes));
  };
  let timers: NodeJS.Timeout[] = [];
  try {
    return await new Promise<DeskAnswer>((resolve, reject) => {
      const giveUp = () => reject(notConfirmed(rig, kind, withinMs, heard, seen));
      timers = [setInterval(ask, REPEAT_MS), setTimeout(giveUp, withinMs)];
      socket.on('error', reject);
      socket.on('message', (data, from) => {
        if (from.port !== telemetryPort) return;
        heard = true;
        const robot = robotOf(data);
        if (robot === null) return;
        const isFirst = seen === null;
        seen = robot;
        if (isDone(kind, robot)) {
          if (isFirst && kind === 'reset') reject(nothingToReset(robot.state));
          else resolve({ tookMs: performance.now() - startMs, state: robot.state, cause: robot.cause });
        } else if (isFirst && kind === 'reset') {
          startMs = performance.now();
          ask();
        }
      });
      ask();
    });
  } finally {
    for (const timer of timers) clearTimeout(timer);
    socket.close();
  }
}

/** A robot out of reach is not known to be anything. */
const isDone = (kind: 'estop' | 'reset', { state }: Robot): boolean =>
  kind === 'estop' ? state === 'stopped' : state !== 'stopped' && state !== 'disconnected';

async function openSocket(): Promise<Socket> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(0, HOST, resolve);
  });
  return socket;
}

function sender(socket: Socket): (port: number, write: (out: Uint8Array) => number) => void {
  const bytes = new Uint8Array(256);
  return (port, write) => socket.send(bytes.slice(0, write(bytes)), port, HOST, () => {});
}

function robotOf(data: Uint8Array): Robot | null {
  try {
    const message = JSON.parse(Buffer.from(data).toString()) as Telemetry;
    return message.kind === 'telemetry' ? message.robot : null;
  } catch {
    return null;
  }
}

function notConfirmed(
  rig: Rig,
  kind: string,
  withinMs: number,
  heard: boolean,
  robot: Robot | null,
): TeleopError {
  const { deskPort, telemetryPort } = rig.console;
  const what = heard
    ? `the robot is ${robot?.state ?? 'disconnected'}: ${robot?.cause ?? 'no word from it'}`
    : `no operator answers on ports ${deskPort} and ${telemetryPort}`;
  return new TeleopError('not-confirmed', `${kind} not confirmed within ${withinMs} ms: ${what}`, {
    hint: 'Use the emergency stop of the robot itself. Run this where the operator runs, with its rig and settings.',
  });
}

const nothingToReset = (state: string): TeleopError =>
  new TeleopError('not-confirmed', `there is nothing to reset: the robot is ${state}`, {
    hint: 'A reset clears a latched stop; arm and engage do the rest.',
  });
