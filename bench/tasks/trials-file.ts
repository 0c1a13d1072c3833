import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Trial, TrialSettings } from './trial.ts';

const lineSchema = z.object({
  ...{ model: z.string(), task: z.string(), seed: z.number(), link: z.string(), playout: z.string() },
  ...{
    success: z.boolean(),
    timeS: z.number(),
    score: z.number(),
    drops: z.number(),
    collisions: z.number(),
  },
});

const keyOf = ({ model, task, link, playout, seed }: Record<keyof TrialSettings, unknown>): string =>
  [model, task, link, playout, seed].join(' ');

/** Trials done so far, one JSON line each: a run that was cut short goes on where it ended. */
export class TrialsFile {
  readonly #path: string | null;
  readonly #done = new Map<string, Trial>();

  constructor(path: string | null) {
    this.#path = path;
    if (path === null || !existsSync(path)) return;
    // The last line is incomplete when a run was killed while writing it: it has no line break.
    for (const line of readFileSync(path, 'utf8').split('\n').slice(0, -1)) {
      const trial = lineSchema.parse(JSON.parse(line));
      this.#done.set(keyOf(trial), trial);
    }
  }

  find(settings: TrialSettings): Trial | undefined {
    return this.#done.get(keyOf(settings));
  }

  add(settings: TrialSettings, trial: Trial): void {
    this.#done.set(keyOf(settings), trial);
    if (this.#path !== null) appendFileSync(this.#path, `${JSON.stringify({ ...settings, ...trial })}\n`);
  }
}
