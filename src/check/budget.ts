import { existsSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { resolveConfig } from '../core/config.ts';
import { TeleopError } from '../core/errors.ts';
import { namedFile, readYaml, yamlNames } from '../files/yaml-files.ts';
import { FIGURES } from './figures.ts';
import type { Measured } from './measured.ts';

const limits = Object.fromEntries(
  Object.entries(FIGURES).map(([name, { about, isLeast, unit }]) => [
    name,
    z
      .number()
      .min(0)
      .optional()
      .describe(`${isLeast ? 'at least' : 'at most'}, ${unit || 'count'}: ${about}`),
  ]),
);

/** Limits of a run; each is optional. */
const budgetSchema = z.strictObject({
  about: z.string().default('').describe('what this budget is for'),
  limits: z.strictObject(limits).prefault({}),
});

/** Apply unless a budget sets its own: nobody should drive a robot that halts by itself. */
const DEFAULT_LIMITS: Record<string, number> = { holds: 0, stops: 0, refused: 0 };

export interface Budget {
  /** File or shipped name, for messages. */
  name: string;
  about: string;
  limits: Record<string, number>;
  /** Limits of a shipped budget that this run is too short for. */
  notJudged: string[];
}

export interface Verdict {
  limit: string;
  unit: string;
  /** At most, or at least where `isLeast`. */
  allowed: number;
  isLeast: boolean;
  /** Null if it could not be measured, which counts as exceeded. */
  measured: number | null;
  /** Not exceeded, as far as it can be judged. */
  ok: boolean;
  /** The clocks are not known well enough to judge it: the true figure lies between these two; null: judged. */
  withheld: [low: number, high: number] | null;
  /** What to do next; empty if the limit is met. */
  advice: string;
}

/**
 * Loads a budget from a file, or the shipped one of a kind of check. A run of `seconds`, settling included, may be too
 * short to judge a limit: an error in the user's file, left out of a shipped budget.
 */
export function loadBudget(file: string | null, kind: string, seconds: number): Budget {
  const source = file ?? shippedBudget(kind);
  if (!existsSync(source))
    throw new TeleopError('file-missing', `budget file ${source} does not exist`, {
      hint: 'Give the path of a YAML file; the shipped ones are in budgets/ (docs/check.md).',
    });
  const values = readYaml(source) as Record<string, unknown>;
  const { config } = resolveConfig(budgetSchema, [{ source: path.basename(source), values }]);
  const all = Object.entries(config.limits).filter(
    (entry): entry is [string, number] => entry[1] !== undefined,
  );
  const tooShort = all.map(([name]) => name).filter((name) => seconds < (FIGURES[name]!.needsS ?? 0));
  const [first] = tooShort;
  if (first !== undefined && file !== null)
    throw new TeleopError('bad-option', `limit ${first} cannot be judged in ${seconds} s`, {
      hint: `Measure for at least ${FIGURES[first]!.needsS} s (--duration and --settle together), or remove the limit from ${file}.`,
    });
  const kept = all.filter(([name]) => !tooShort.includes(name));
  return {
    name: file ?? path.basename(source, '.yaml'),
    about: config.about,
    limits: { ...DEFAULT_LIMITS, ...Object.fromEntries(kept) },
    notJudged: tooShort,
  };
}

function shippedBudget(kind: string): string {
  const name = kind.replace(':', '-');
  return namedFile('budgets', 'budget', yamlNames('budgets').includes(name) ? name : kind.split(':')[0]!);
}

const CLOCK_ADVICE =
  'The exchange of stamps cannot tell which direction is slow. With a common clock it can: synchronize both machines with PTP and set link.clock=wall (docs/latency.md#the-clock).';

export function judgeBudget({ limits: wanted }: Budget, measured: Measured): Verdict[] {
  return Object.entries(wanted).map(([limit, allowed]) => {
    const { unit, isLeast = false, of, advice, range } = FIGURES[limit]!;
    const value = of(measured);
    const [low, high] = range?.(measured) ?? [value, value];
    const withheld: Verdict['withheld'] =
      low !== null && high !== null && low <= allowed && high > allowed ? [low, high] : null;
    const isMet = value !== null && (isLeast ? value >= allowed : value <= allowed);
    const ok = isMet || withheld !== null;
    const next = withheld !== null ? CLOCK_ADVICE : ok ? '' : advice(measured);
    return { limit, unit, allowed, isLeast, measured: value, ok, withheld, advice: next };
  });
}
