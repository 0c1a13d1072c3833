import { createSocket, type Socket } from 'node:dgram';
import { TeleopError } from '../core/errors.ts';
import type { Telemetry } from '../messages/telemetry.ts';
import { parseTelemetry } from '../messages/telemetry-schema.ts';
import type { Rig } from '../rig/rig.ts';
import { encodeHello } from '../wire/codecs/desk.ts';
import { writeFrame } from '../wire/codecs/frame.ts';

const HOST = '127.0.0.1';
const REPEAT_MS = 100;
const MAX_REQUEST_BYTES = 2048;

/** A robot out of reach is not known to be anything. */
const isIn = ({ robot }: Telemetry, ...states: string[]): boolean =>
  robot !== null && states.includes(robot.state);

interface Request {
  /** Telemetry shows that it is done. */
  isDone: (seen: Telemetry) => boolean;
  /** Said again until it is done; what is not, would begin anew. */
  repeats: boolean;
  /** Where it is in vain, and what to say there. */
  vain?: { isSo: (seen: Telemetry) => boolean; because: string; hint: string };
  /** How long to wait for it, where it takes longer than others. */
  withinMs?: number;
}

/** What can be asked of a running operator. Confirmed by the robot's own state, or by the operator's mode. */
export const REQUESTS: Record<string, Request> = {
  // A robot is armed once its joints are powered, for which they have `robot.enableTimeoutMs`.
  arm: {
    isDone: (seen) => isIn(seen, 'armed', 'engaged', 'hold'),
    repeats: true,
    vain: {
      isSo: (seen) => isIn(seen, 'stopped'),
      because: 'a stopped robot cannot be armed',
      hint: 'Find out why it stopped, then: farhand reset',
    },
    withinMs: 12_000,
  },
  disarm: { isDone: (seen) => isIn(seen, 'idle'), repeats: true },
  estop: { isDone: (seen) => isIn(seen, 'stopped'), repeats: true },
  reset: {
    isDone: (seen) => isIn(seen, 'idle', 'armed', 'engaged', 'hold'),
    repeats: true,
    vain: {
      isSo: (seen) => isIn(seen, 'idle', 'armed', 'engaged', 'hold'),
      because: 'there is nothing to reset',
      hint: 'A reset clears a latched stop; arm and engage do the rest.',
    },
  },
  home: { isDone: ({ operator }) => operator.mode === 'home', repeats: false },
  hold: { isDone: ({ operator }) => operator.mode === 'hold', repeats: false },
  teleop: { isDone: ({ operator }) => operator.mode !== 'home', repeats: false },
};

export interface Answer {
  /** From the first datagram to the telemetry that says so. */
  tookMs: number;
  state: string;
  cause: string;
  /** What keeps the arm from doing as told; empty: nothing. */
  limitedBy: string;
  mode: string;
}

/**
 * Asks the operator process on this machine, as the page would, until its telemetry shows the effect. Throws when it
 * does not within `withinMs`; what was sent stays in force. An e-stop is sent blindly, everything else once the operator
 * is heard.
 */
export async function askOperator(rig: Rig, kind: string, withinMs: number): Promise<Answer> {
  const request = REQUESTS[kind]!;
  const socket = await openSocket();
  const { deskPort, telemetryPort } = rig.console;
  let askedMs = Number.NaN;
  let seen: Telemetry | null = null;
  const ask = () => {
    const isFirst = Number.isNaN(askedMs);
    if (kind === 'estop' || (mayAsk(request, seen) && (isFirst || request.repeats))) {
      if (isFirst) askedMs = performance.now();
      sendTo(socket, deskPort, (bytes) => writeFrame('request', { kind }, bytes));
    }
    sendTo(socket, telemetryPort, (bytes) => encodeHello(1, bytes));
  };
  let timers: NodeJS.Timeout[] = [];
  try {
    return await new Promise<Answer>((resolve, reject) => {
      const giveUp = () => reject(notConfirmed(rig, kind, withinMs, seen));
      timers = [setInterval(ask, REPEAT_MS), setTimeout(giveUp, withinMs)];
      socket.on('error', reject);
      socket.on('message', (data, from) => {
        const reported = from.port === telemetryPort ? telemetryOf(data) : null;
        if (reported === null) return;
        seen = reported;
        if (!Number.isNaN(askedMs) && request.isDone(reported))
          resolve(answerOf(reported, performance.now() - askedMs));
        else if (request.vain?.isSo(reported)) reject(inVain(request, reported));
        else if (Number.isNaN(askedMs)) ask();
      });
      ask();
    });
  } finally {
    for (const timer of timers) clearTimeout(timer);
    socket.close();
  }
}

const mayAsk = ({ vain }: Request, seen: Telemetry | null): boolean =>
  seen !== null && (vain === undefined || (seen.robot !== null && !vain.isSo(seen)));

/** On a port of this machine's choice. */
export async function openSocket(): Promise<Socket> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(0, HOST, resolve);
  });
  return socket;
}

export function sendTo(socket: Socket, port: number, write: (out: Uint8Array) => number): void {
  const bytes = new Uint8Array(MAX_REQUEST_BYTES);
  socket.send(bytes, 0, write(bytes), port, HOST, () => {});
}

export function telemetryOf(data: Uint8Array): Telemetry | null {
  const telemetry = parseTelemetry(data);
  return typeof telemetry === 'string' ? null : telemetry;
}

const answerOf = ({ robot, operator }: Telemetry, tookMs: number): Answer => ({
  tookMs,
  state: robot?.state ?? 'disconnected',
  cause: robot?.cause ?? 'no word from the robot',
  limitedBy: robot?.limitedBy ?? '',
  mode: operator.mode,
});

/** One line on how things stand. */
export const answerText = ({ state, cause, limitedBy, mode }: Answer): string =>
  `robot ${state} (${cause})${limitedBy === '' ? '' : `, limited by ${limitedBy}`}, operator ${mode}`;

function notConfirmed(rig: Rig, kind: string, withinMs: number, seen: Telemetry | null): TeleopError {
  const { deskPort, telemetryPort } = rig.console;
  const what =
    seen === null
      ? `no operator answers on ports ${deskPort} and ${telemetryPort}`
      : answerText(answerOf(seen, withinMs));
  const where = 'Run this where the operator runs, with its rig and settings.';
  return new TeleopError('not-confirmed', `${kind} not confirmed within ${withinMs} ms: ${what}`, {
    hint: kind === 'estop' ? `Use the emergency stop of the robot itself. ${where}` : where,
  });
}

const inVain = ({ vain }: Request, seen: Telemetry): TeleopError =>
  new TeleopError('not-confirmed', `${vain?.because}: ${answerText(answerOf(seen, 0))}`, {
    hint: vain?.hint ?? '',
  });
