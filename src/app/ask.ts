import { createSocket } from 'node:dgram';
import type { Telemetry } from '../core/telemetry.ts';
import { encodeHello } from '../wire/codecs/desk.ts';
import { writeFrame } from '../wire/codecs/frame.ts';
import type { Rig } from './rig.ts';

/** What can be asked of a running operator, and how one sees that it was done. */
export const REQUESTS: Record<string, (seen: Telemetry) => boolean> = {
  arm: ({ robot }) => robot !== null && ['armed', 'engaged', 'hold'].includes(robot.state),
  disarm: ({ robot }) => robot?.state === 'idle',
  estop: ({ robot }) => robot?.state === 'stopped',
  reset: ({ robot }) => robot !== null && robot.state !== 'stopped',
  home: ({ operator }) => operator.mode === 'home',
  hold: ({ operator }) => operator.mode === 'hold',
  teleop: ({ operator }) => operator.mode !== 'home',
};

export interface Answer {
  /** Null: no operator process spoke at all. */
  last: Telemetry | null;
  done: boolean;
}

const REPEAT_MS = 200;

/** Asks the operator process on this machine, as the page would, and watches for the effect. */
export function askOperator(rig: Rig, kind: string, withinMs = 2000): Promise<Answer> {
  const { deskPort, telemetryPort } = rig.console;
  const socket = createSocket('udp4');
  const bytes = new Uint8Array(256);
  const send = (port: number, length: number) =>
    socket.send(bytes.slice(0, length), port, '127.0.0.1', () => {});
  const answer: Answer = { last: null, done: false };
  let asked = false;
  return new Promise((resolve) => {
    const finish = () => {
      clearInterval(timer);
      clearTimeout(end);
      socket.close(() => resolve(answer));
    };
    // An e-stop does not wait for an answer, and is worth saying again.
    const tick = () => {
      send(telemetryPort, encodeHello(1, bytes));
      if (kind === 'estop' || (answer.last !== null && !asked)) {
        asked = true;
        send(deskPort, writeFrame('request', { kind }, bytes));
      }
    };
    socket.on('error', () => {});
    socket.on('message', (data, from) => {
      const seen = from.port === telemetryPort ? telemetryOf(data.toString()) : null;
      if (seen === null) return;
      answer.last = seen;
      answer.done = asked && REQUESTS[kind]!(answer.last);
      if (answer.done) finish();
      else if (!asked) tick();
    });
    const timer = setInterval(tick, REPEAT_MS);
    const end = setTimeout(finish, withinMs);
    socket.bind(0, '127.0.0.1', tick);
  });
}

function telemetryOf(text: string): Telemetry | null {
  try {
    const seen = JSON.parse(text) as Telemetry | null;
    return seen?.kind === 'telemetry' ? seen : null;
  } catch {
    return null;
  }
}
