import { TeleopError } from '../core/errors.ts';
import type { RecorderStatus, RecordRequest } from '../messages/recording.ts';
import type { Rig } from '../rig/rig.ts';
import { encodeHello } from '../wire/codecs/desk.ts';
import { writeFrame } from '../wire/codecs/frame.ts';
import { openSocket, sendTo, telemetryOf } from './ask.ts';

const REPEAT_MS = 100;

/** What is asked of the recorder of a running operator; `status` asks for nothing. */
export type RecorderQuestion = Exclude<RecordRequest, { action: 'label' }> | { action: 'status' };

/** Null while it is not so yet; refuses what makes no sense. */
function isDone(question: RecorderQuestion, status: RecorderStatus): boolean {
  if (question.action === 'start') return status.state === 'recording';
  if (question.action === 'task') return status.task === question.task;
  return question.action === 'status' || status.state !== 'recording';
}

function refusal(question: RecorderQuestion, { state, episode }: RecorderStatus): string | null {
  if (question.action === 'start' && state === 'recording')
    return `episode ${episode} is being recorded already`;
  const ends = question.action === 'stop' || question.action === 'discard';
  return ends && state !== 'recording' ? 'nothing is being recorded' : null;
}

/**
 * Asks the operator process on this machine once, and waits until its telemetry shows the effect. Throws when it does
 * not within `withinMs`, or when the recording failed.
 */
export async function askRecorder(
  rig: Rig,
  question: RecorderQuestion,
  withinMs: number,
): Promise<RecorderStatus> {
  const { telemetryPort } = rig.console;
  const socket = await openSocket();
  let seen: RecorderStatus | null = null;
  let asked = false;
  const hello = () => sendTo(socket, telemetryPort, (bytes) => encodeHello(1, bytes));
  const timers: NodeJS.Timeout[] = [];
  try {
    return await new Promise<RecorderStatus>((resolve, reject) => {
      timers.push(setInterval(hello, REPEAT_MS));
      timers.push(setTimeout(() => reject(notConfirmed(rig, question, withinMs, seen)), withinMs));
      socket.on('error', reject);
      socket.on('message', (data, from) => {
        const status = from.port === telemetryPort ? telemetryOf(data)?.record : undefined;
        if (status === null || status === undefined) return;
        const before = seen;
        seen = status;
        if (asked) {
          if (isDone(question, status)) resolve(status);
          else if (status.state === 'failed' && before?.state !== 'failed') reject(failed(status));
          return;
        }
        const problem = refusal(question, status);
        if (problem !== null) return reject(inVain(problem));
        if (question.action === 'status') return resolve(status);
        asked = true;
        sendTo(socket, telemetryPort, (bytes) => writeFrame('request', question, bytes));
      });
      hello();
    });
  } finally {
    for (const timer of timers) clearTimeout(timer);
    socket.close();
  }
}

/** One line on how things stand. */
export function statusText(status: RecorderStatus): string {
  const { state, episode, rows, skippedRows, durationS, task, message } = status;
  const of =
    episode === null
      ? ''
      : `, episode ${episode}: ${rows} rows, ${skippedRows} skipped, ${durationS.toFixed(1)} s`;
  return `recorder ${state}${of}${task === '' ? '' : `, task "${task}"`}${message === '' ? '' : `\n  ${message}`}`;
}

const inVain = (problem: string): TeleopError =>
  new TeleopError('not-confirmed', problem, { hint: 'See `farhand record status`.' });

const failed = ({ message }: RecorderStatus): TeleopError =>
  new TeleopError('recording-stopped', message, {
    hint: 'Control goes on; start again once that is mended.',
  });

function notConfirmed(
  rig: Rig,
  { action }: RecorderQuestion,
  withinMs: number,
  seen: RecorderStatus | null,
): TeleopError {
  if (seen?.state === 'failed') return failed(seen);
  const what = seen === null ? `no operator answers on port ${rig.console.telemetryPort}` : statusText(seen);
  return new TeleopError('not-confirmed', `record ${action} not confirmed within ${withinMs} ms: ${what}`, {
    hint: 'Run this where the operator runs, with its rig and settings.',
  });
}
