import type { RecordRequest } from '../../core/recording.ts';

const MAX_TEXT = 400;

const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= MAX_TEXT;
const isMaybeText = (value: unknown): value is string | undefined => value === undefined || isText(value);

/** A request from a console or the command line; null when it is none. */
export function recordRequestOf(body: Record<string, unknown>): RecordRequest | null {
  const { kind, action, task, label, episode } = body;
  if (kind !== 'record') return null;
  if (action === 'start' && isMaybeText(task))
    return { kind, action, ...(task === undefined ? {} : { task }) };
  if (action === 'stop' && isMaybeText(label))
    return { kind, action, ...(label === undefined ? {} : { label }) };
  if (action === 'discard') return { kind, action };
  if (action === 'task' && isText(task)) return { kind, action, task };
  if (action === 'label' && isText(label) && isText(episode)) return { kind, action, episode, label };
  return null;
}
