import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { z } from 'zod';
import type { OptionSpec } from '../src/cli/arguments.ts';
import { TeleopError } from '../src/core/errors.ts';

export const RESUME_OPTION: OptionSpec = {
  type: 'string',
  value: 'FILE',
  about: 'keep finished parts in FILE, and continue after those already there',
};

interface Line {
  /** What was measured and how: a part measured otherwise is not the same part. */
  key: string;
  part: unknown;
}

/** Finished parts of a long bench, one JSON line each: a run that was cut short continues where it ended. */
export class FinishedParts<Part> {
  readonly #file: string | null;
  readonly #done = new Map<string, Part>();

  constructor(file: string | null, schema: z.ZodType<Part>) {
    this.#file = file;
    if (file === null || !existsSync(file)) return;
    // The last line is incomplete when a run was killed while writing it: it has no line break.
    for (const text of readFileSync(file, 'utf8').split('\n').slice(0, -1)) {
      const { key, part } = parsed(text, file);
      const checked = schema.safeParse(part);
      if (!checked.success) throw notOurs(file);
      this.#done.set(key, checked.data);
    }
  }

  /** The part kept under `key`, or what `measure` finds. */
  async get(key: string, measure: () => Promise<Part>): Promise<Part> {
    const kept = this.#done.get(key);
    if (kept !== undefined) return kept;
    const part = await measure();
    this.#done.set(key, part);
    if (this.#file !== null) appendFileSync(this.#file, `${JSON.stringify({ key, part })}\n`);
    return part;
  }

  has(key: string): boolean {
    return this.#done.has(key);
  }
}

function parsed(text: string, file: string): Line {
  try {
    const line = JSON.parse(text) as Line;
    if (typeof line.key === 'string') return line;
  } catch {
    // Reported below.
  }
  throw notOurs(file);
}

const notOurs = (file: string): TeleopError =>
  new TeleopError('bad-option', `${file} has no finished parts of this bench`, {
    hint: 'Name another file, or delete this one to start again.',
  });
