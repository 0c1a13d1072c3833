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

/** False while the robot is unreachable: its state is then unknown. */
const isIn = ({ robot }: Telemetry, ...states: string[]): boolean =>
  robot !== null && states.includes(robot.state);

interface Request {
  /** Whether telemetry shows that it is done. */
  isDone: (seen: Telemetry, before: Telemetry | null) => boolean;
  /** Sent again until it is done; false where a repeat would start over. */
  repeats: boolean;
  /** When the request is pointless, and what to report then. */
  pointless?: { applies: (seen: Telemetry) => boolean; because: string; hint: string };
  /** What the request carries besides its kind, unless the caller gives other values. */
  fields?: Record<string, unknown>;
  /** How long to wait, if longer than usual. */
  withinMs?: number;
}

/** The requests to a running operator. The robot's own state, or the operator's mode, confirms them. */
export const REQUESTS: Record<string, Request> = {
  // A robot is armed once its joints are powered, which may take `robot.enableTimeoutMs`.
  arm: {
    isDone: (seen) => isIn(seen, 'armed', 'engaged', 'hold'),
    repeats: true,
    pointless: {
      applies: (seen) => isIn(seen, 'stopped'),
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
    pointless: {
      applies: (seen) => isIn(seen, 'idle', 'armed', 'engaged', 'hold'),
      because: 'there is nothing to reset',
      hint: 'A reset clears a latched stop; arm and engage do the rest.',
    },
  },
  // The next round of a simulated world, unless the caller names a task or a seed.
  world: {
    isDone: ({ world }, before) => world != null && world.round !== before?.world?.round,
    repeats: false,
    pointless: {
      applies: ({ world }) => world == null,
      because: 'this robot has no simulated world',
      hint: 'Start one: farhand demo --rig world',
    },
    fields: { task: '', seed: null },
  },
  home: { isDone: ({ operator }) => operator.mode === 'home', repeats: false },
  hold: { isDone: ({ operator }) => operator.mode === 'hold', repeats: false },
  teleop: { isDone: ({ operator }) => operator.mode !== 'home', repeats: false },
  'hand-back': {
    isDone: ({ operator }) => operator.isInterrupted !== true,
    repeats: false,
    pointless: {
      applies: ({ operator }) => operator.isInterrupted !== true,
      because: 'nobody has taken over from a policy',
      hint: 'Close a clutch while `farhand policy` drives; then hand back.',
    },
  },
};

export interface Answer {
  /** From the first datagram to the telemetry that confirms it. */
  tookMs: number;
  state: string;
  cause: string;
  /** What keeps the arm from following its commands; empty: nothing. */
  limitedBy: string;
  mode: string;
}

/**
 * Sends a request to the operator process on this machine, as the page does, until its telemetry shows the
 * effect. Throws if it does not within `withinMs`; what was sent stays in force. An e-stop is sent
 * immediately, everything else once telemetry arrives.
 */
export async function askOperator(
  rig: Rig,
  kind: string,
  withinMs: number,
  given: Record<string, unknown> = {},
): Promise<Answer> {
  const request = REQUESTS[kind]!;
  const fields = { ...request.fields, ...given };
  const socket = await openSocket();
  const { deskPort, telemetryPort } = rig.console;
  let askedMs = Number.NaN;
  let seen: Telemetry | null = null;
  let before: Telemetry | null = null;
  const ask = () => {
    const isFirst = Number.isNaN(askedMs);
    if (kind === 'estop' || (mayAsk(request, seen) && (isFirst || request.repeats))) {
      if (isFirst) {
        askedMs = performance.now();
        before = seen;
      }
      sendTo(socket, deskPort, (bytes) => writeFrame('request', { kind, ...fields }, bytes));
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
        if (!Number.isNaN(askedMs) && request.isDone(reported, before))
          resolve(answerOf(reported, performance.now() - askedMs));
        else if (request.pointless?.applies(reported)) reject(pointlessError(request, reported));
        else if (Number.isNaN(askedMs)) ask();
      });
      ask();
    });
  } finally {
    for (const timer of timers) clearTimeout(timer);
    socket.close();
  }
}

const mayAsk = ({ pointless }: Request, seen: Telemetry | null): boolean =>
  seen !== null && (pointless === undefined || (seen.robot !== null && !pointless.applies(seen)));

/** On a port that the system chooses. */
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
  cause: robot?.cause ?? 'no message from the robot',
  limitedBy: robot?.limitedBy ?? '',
  mode: operator.mode,
});

/** The state in one line. */
export const answerText = ({ state, cause, limitedBy, mode }: Answer): string =>
  `robot ${state} (${cause})${limitedBy === '' ? '' : `, limited by ${limitedBy}`}, operator ${mode}`;

function notConfirmed(rig: Rig, kind: string, withinMs: number, seen: Telemetry | null): TeleopError {
  const { deskPort, telemetryPort } = rig.console;
  const what =
    seen === null
      ? `no operator answers on ports ${deskPort} and ${telemetryPort}`
      : answerText(answerOf(seen, withinMs));
  const where = 'Run this on the operator’s machine, with its rig and settings.';
  return new TeleopError('not-confirmed', `${kind} not confirmed within ${withinMs} ms: ${what}`, {
    hint: kind === 'estop' ? `Press the robot’s own emergency stop. ${where}` : where,
  });
}

const pointlessError = ({ pointless }: Request, seen: Telemetry): TeleopError =>
  new TeleopError('not-confirmed', `${pointless?.because}: ${answerText(answerOf(seen, 0))}`, {
    hint: pointless?.hint ?? '',
  });
