import { createSocket, type Socket } from 'node:dgram';
import { TeleopError } from '../core/errors.ts';
import { monotonicClock } from '../core/time/clock.ts';
import type { Telemetry } from '../messages/telemetry.ts';
import { parseTelemetry } from '../messages/telemetry-schema.ts';
import type { Rig } from '../rig/rig.ts';
import { encodeHello } from '../wire/codecs/desk.ts';
import { writeFrame } from '../wire/codecs/frame.ts';

const HOST = '127.0.0.1';
const REPEAT_MS = 100;
/** A robot still unknown to the operator by then is not waited for. */
const GONE_MS = 2000;
const MAX_REQUEST_BYTES = 2048;

/** False while the robot is unreachable: its state is then unknown. */
const isIn = ({ robot }: Telemetry, ...states: string[]): boolean =>
  robot !== null && states.includes(robot.state);

const isGone = ({ robot }: Telemetry): boolean => robot === null || robot.state === 'disconnected';

/** The robot answers an e-stop of an operator without the lease too, which gets no state. */
const isConfirmedFromAfar = (seen: Telemetry, askedNs: number): boolean =>
  isGone(seen) && (seen.operator.estopConfirmedNs ?? Number.NEGATIVE_INFINITY) >= askedNs;

interface Request {
  /** Whether telemetry shows that it is done. */
  isDone: (seen: Telemetry, before: Telemetry | null, askedNs: number) => boolean;
  /** How long it must stay done; 0 if absent. */
  lastsMs?: number;
  /** Sent again until it is done; false where a repeat would start over. */
  repeats: boolean;
  /** When the request is pointless, and what to report then. */
  pointless?: { applies: (seen: Telemetry) => boolean; because: string; hint: string };
  /** What the request carries besides its kind, unless the caller gives other values. */
  fields?: Record<string, unknown>;
  /** How long to wait, if longer than usual. */
  withinMs?: number;
}

const whileStopped = (what: string): NonNullable<Request['pointless']> => ({
  applies: (seen) => isIn(seen, 'stopped'),
  because: `a stopped robot cannot ${what}`,
  hint: 'Find out why it stopped, then: farhand reset',
});

/** The requests to a running operator. The robot's own state, or the operator's mode, confirms them. */
export const REQUESTS: Record<string, Request> = {
  // A robot is armed once its joints are powered, which may take `robot.enableTimeoutMs`.
  arm: {
    isDone: (seen) => isIn(seen, 'armed', 'engaged', 'hold'),
    repeats: true,
    pointless: whileStopped('be armed'),
    withinMs: 12_000,
  },
  disarm: { isDone: (seen) => isIn(seen, 'idle'), repeats: true, pointless: whileStopped('be disarmed') },
  estop: {
    isDone: (seen, _, askedNs) => isIn(seen, 'stopped') || isConfirmedFromAfar(seen, askedNs),
    repeats: true,
  },
  reset: {
    isDone: (seen) => isIn(seen, 'idle', 'armed', 'engaged', 'hold'),
    repeats: true,
    pointless: {
      applies: (seen) => isIn(seen, 'idle', 'armed', 'engaged', 'hold'),
      because: 'there is nothing to reset',
      hint: 'A reset clears a latched stop; arm and engage do the rest.',
    },
    lastsMs: 500,
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
  home: {
    isDone: ({ operator }) => operator.mode === 'home',
    repeats: false,
    pointless: whileStopped('move'),
  },
  hold: { isDone: ({ operator }) => operator.mode === 'hold', repeats: false },
  teleop: {
    isDone: ({ operator }) => operator.mode !== 'home',
    repeats: false,
    pointless: whileStopped('follow'),
  },
  'take-over': {
    isDone: ({ operator }) => operator.isInterrupted === true,
    repeats: false,
    pointless: {
      applies: ({ operator }) => operator.driver !== 'policy',
      because: 'no policy drives',
      hint: 'A hand without a clutch drives when the robot is armed: `farhand ask arm`.',
    },
  },
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
  const socket = await openSocket();
  const { deskPort, telemetryPort } = rig.console;
  const progress = new Progress(kind, request);
  const ask = () => {
    if (progress.mayAsk()) {
      progress.asked();
      const fields = { kind, ...request.fields, ...given };
      sendTo(socket, deskPort, (bytes) => writeFrame('request', fields, bytes));
    }
    sendTo(socket, telemetryPort, (bytes) => encodeHello(1, bytes));
  };
  let timers: NodeJS.Timeout[] = [];
  try {
    return await new Promise<Answer>((resolve, reject) => {
      const giveUp = (afterMs: number) => reject(notConfirmed(rig, kind, afterMs, progress.seen));
      const giveUpIfGone = () => kind !== 'estop' && progress.isWithoutRobot && giveUp(GONE_MS);
      timers = [
        setInterval(ask, REPEAT_MS),
        setTimeout(() => giveUp(withinMs), withinMs + (request.lastsMs ?? 0)),
        setTimeout(giveUpIfGone, GONE_MS),
      ];
      socket.on('error', reject);
      socket.on('message', (data, from) => {
        const reported = from.port === telemetryPort ? telemetryOf(data) : null;
        if (reported === null) return;
        const outcome = progress.see(reported);
        if (outcome instanceof TeleopError) reject(outcome);
        else if (outcome !== null) resolve(outcome);
        else if (!progress.hasAsked) ask();
      });
      ask();
    });
  } finally {
    for (const timer of timers) clearTimeout(timer);
    socket.close();
  }
}

/** How far a request is, by telemetry. */
class Progress {
  seen: Telemetry | null = null;
  readonly #kind: string;
  readonly #request: Request;
  #before: Telemetry | null = null;
  #askedNs = Number.NaN;
  #done: Answer | null = null;
  #doneNs = Number.NaN;

  constructor(kind: string, request: Request) {
    this.#kind = kind;
    this.#request = request;
  }

  /** The operator answers, but knows no robot. */
  get isWithoutRobot(): boolean {
    return this.seen !== null && isGone(this.seen);
  }

  get hasAsked(): boolean {
    return !Number.isNaN(this.#askedNs);
  }

  mayAsk(): boolean {
    if (this.#done !== null) return false;
    if (this.#kind === 'estop') return true;
    return mayAsk(this.#request, this.seen) && (!this.hasAsked || this.#request.repeats);
  }

  asked(): void {
    if (this.hasAsked) return;
    this.#askedNs = monotonicClock.nowNs();
    this.#before = this.seen;
  }

  /** The answer once it is done and stays so, or why it will not be; null: not yet known. */
  see(reported: Telemetry): Answer | TeleopError | null {
    this.seen = reported;
    const { isDone, pointless, lastsMs = 0 } = this.#request;
    const nowNs = monotonicClock.nowNs();
    const isDoneNow = this.hasAsked && isDone(reported, this.#before, this.#askedNs);
    if (this.#done !== null && isIn(reported, 'stopped')) return undone(this.#kind, reported);
    if (isDoneNow && this.#done === null) {
      const tookMs = (nowNs - this.#askedNs) / 1e6;
      this.#done = {
        ...answerOf(reported, tookMs),
        ...(this.#kind === 'estop' ? estopAnswer(reported) : {}),
      };
      this.#doneNs = nowNs;
    }
    if (isDoneNow && nowNs - this.#doneNs >= lastsMs * 1e6) return this.#done;
    if (this.#done === null && pointless?.applies(reported)) return pointlessError(this.#request, reported);
    return null;
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

/** Without the lease, the operator knows no more than that the robot has confirmed the e-stop. */
const estopAnswer = (seen: Telemetry): Partial<Answer> =>
  isIn(seen, 'stopped')
    ? {}
    : { state: 'stopped', cause: 'confirmed by the robot; another operator has control' };

/** The state in one line. */
export const answerText = ({ state, cause, limitedBy, mode }: Answer): string =>
  `robot ${state} (${cause})${limitedBy === '' ? '' : `, limited by ${limitedBy}`}, operator ${mode}`;

function notConfirmed(rig: Rig, kind: string, withinMs: number, seen: Telemetry | null): TeleopError {
  const { deskPort, telemetryPort } = rig.console;
  const what =
    seen === null
      ? `no operator answers on ports ${deskPort} and ${telemetryPort}`
      : answerText(answerOf(seen, withinMs));
  const where =
    seen !== null && isGone(seen)
      ? 'The operator gets no state: check that the robot runs (`farhand robot`) and that no other operator has control.'
      : 'Run this on the operator’s machine, with its rig and settings.';
  return new TeleopError('not-confirmed', `${kind} not confirmed within ${withinMs} ms: ${what}`, {
    hint: kind === 'estop' ? `Press the robot’s own emergency stop. ${where}` : where,
  });
}

const undone = (kind: string, seen: Telemetry): TeleopError =>
  new TeleopError('not-confirmed', `${kind} did not last: ${answerText(answerOf(seen, 0))}`, {
    hint: 'Remove what stops the robot, then: farhand reset',
  });

const pointlessError = ({ pointless }: Request, seen: Telemetry): TeleopError =>
  new TeleopError('not-confirmed', `${pointless?.because}: ${answerText(answerOf(seen, 0))}`, {
    hint: pointless?.hint ?? '',
  });
