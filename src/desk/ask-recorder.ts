import { TeleopError } from '../core/errors.ts';
import type { RecorderStatus, RecordRequest } from '../messages/recording.ts';
import type { Rig } from '../rig/rig.ts';
import { encodeHello } from '../wire/codecs/desk.ts';
import { writeFrame } from '../wire/codecs/frame.ts';
import { openSocket, sendTo, telemetryOf } from './ask.ts';

const REPEAT_MS = 100;

/** A request to the recorder of a running operator; `status` changes nothing. */
export type RecorderRequest = Exclude<RecordRequest, { action: 'label' }> | { action: 'status' };

function isDone(request: RecorderRequest, status: RecorderStatus): boolean {
  if (request.action === 'start') return status.state === 'recording';
  if (request.action === 'task') return status.task === request.task;
  if (request.action === 'mark') return (status.subtask ?? '') === request.subtask;
  return request.action === 'status' || status.state !== 'recording';
}

/** Why the request makes no sense in this state; null if it does. */
function refusal(request: RecorderRequest, { state, episode }: RecorderStatus): string | null {
  if (request.action === 'start' && state === 'recording')
    return `episode ${episode} is already being recorded`;
  const ends = ['stop', 'discard', 'mark'].includes(request.action);
  return ends && state !== 'recording' ? 'nothing is being recorded' : null;
}

/**
 * Sends one request to the operator process on this machine and waits until its telemetry shows the effect.
 * Throws if it does not within `withinMs`, or if the recording failed.
 */
export async function askRecorder(
  rig: Rig,
  request: RecorderRequest,
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
      timers.push(setTimeout(() => reject(notConfirmed(rig, request, withinMs, seen)), withinMs));
      socket.on('error', reject);
      socket.on('message', (data, from) => {
        const status = from.port === telemetryPort ? telemetryOf(data)?.record : undefined;
        if (status === null || status === undefined) return;
        const before = seen;
        seen = status;
        if (asked) {
          if (isDone(request, status)) resolve(status);
          else if (status.state === 'failed' && before?.state !== 'failed') reject(failed(status));
          return;
        }
        const problem = refusal(request, status);
        if (problem !== null) return reject(pointless(problem));
        if (request.action === 'status') return resolve(status);
        asked = true;
        sendTo(socket, telemetryPort, (bytes) => writeFrame('request', request, bytes));
      });
      hello();
    });
  } finally {
    for (const timer of timers) clearTimeout(timer);
    socket.close();
  }
}

/** The recorder's status in one line. */
export function statusText(status: RecorderStatus): string {
  const { state, episode, rows, skippedRows, durationS, task, message } = status;
  const of =
    episode === null
      ? ''
      : `, episode ${episode}: ${rows} rows, ${skippedRows} skipped, ${durationS.toFixed(1)} s`;
  return `recorder ${state}${of}${task === '' ? '' : `, task "${task}"`}${message === '' ? '' : `\n  ${message}`}`;
}

const pointless = (problem: string): TeleopError =>
  new TeleopError('not-confirmed', problem, { hint: 'See `farhand record status`.' });

const failed = ({ message }: RecorderStatus): TeleopError =>
  new TeleopError('recording-stopped', message, {
    hint: 'Control continues. Fix the cause, then start again: farhand record start',
  });

function notConfirmed(
  rig: Rig,
  { action }: RecorderRequest,
  withinMs: number,
  seen: RecorderStatus | null,
): TeleopError {
  if (seen?.state === 'failed') return failed(seen);
  const what = seen === null ? `no operator answers on port ${rig.console.telemetryPort}` : statusText(seen);
  return new TeleopError('not-confirmed', `record ${action} not confirmed within ${withinMs} ms: ${what}`, {
    hint: 'Run this on the operator’s machine, with its rig and settings.',
  });
}
