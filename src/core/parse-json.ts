import type { z } from 'zod';
import type { Reason } from './counters.ts';

/** Why JSON from outside was rejected. */
export type JsonProblem = Extract<Reason, 'oversize' | 'too-deep' | 'bad-json' | 'malformed'>;

/** Our messages nest at most four levels. */
const MAX_DEPTH = 16;
const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [34, 92, 91, 93, 123, 125];
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses JSON from outside, as text or UTF-8, against a schema: its value, or a reason. Never throws. Every
 * entry point uses it except the hot ones, whose codecs check each field by hand. `maxLength`: UTF-8 bytes,
 * or text characters.
 */
export function parseJson<T extends object>(
  data: string | Uint8Array,
  schema: z.ZodType<T, unknown>,
  maxLength: number,
  maxDepth = MAX_DEPTH,
): T | JsonProblem {
  if (data.length > maxLength) return 'oversize';
  let value: unknown;
  try {
    const text = typeof data === 'string' ? data : decoder.decode(data);
    if (isDeeper(text, maxDepth)) return 'too-deep';
    value = JSON.parse(text);
  } catch {
    return 'bad-json';
  }
  return schema.safeParse(value).data ?? 'malformed';
}

/**
 * Checked before parsing, which bounds the work of parser and schema. Brackets inside strings do not count.
 */
function isDeeper(text: string, maxDepth: number): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inString) {
      if (code === BACKSLASH) i++;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      if (++depth > maxDepth) return true;
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth--;
  }
  return false;
}
