import { TeleopError } from '../../core/errors.ts';
import type { LinkEventInput } from './events.ts';

const TIME = '(\\d+(?:\\.\\d+)?)(ms|s)';
const FAULT = new RegExp(`^${TIME}(?:/${TIME})?@${TIME}(?:x(\\d+))?$`);

/**
 * `300ms@5s`: 0.3 s long, 5 s after the start; `200ms/2s@10s`: repeats every 2 s; `…x3`: three times in
 * total.
 */
export function parseFaults(
  kind: LinkEventInput['kind'],
  text: string,
  direction: NonNullable<LinkEventInput['direction']>,
): LinkEventInput[] {
  return text.split(',').map((part) => {
    const found = FAULT.exec(part.trim());
    if (found === null)
      throw new TeleopError('bad-option', `"${part.trim()}" does not give a length and a start time`, {
        hint: `Write --${kind} 300ms@5s, or 200ms/2s@10s to repeat it every 2 s from second 10.`,
      });
    const [, long, longUnit, every, everyUnit, at, atUnit, times] = found;
    const event: LinkEventInput = { kind, atMs: msOf(at, atUnit), forMs: msOf(long, longUnit), direction };
    if (every !== undefined) event.everyMs = msOf(every, everyUnit);
    if (times !== undefined) event.times = Number(times);
    return event;
  });
}

const msOf = (value: string | undefined, unit: string | undefined): number =>
  Number(value) * (unit === 's' ? 1000 : 1);
