import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Given, OptionSpec } from '../src/cli/arguments.ts';
import { TeleopError } from '../src/core/errors.ts';
import { closest } from '../src/core/suggest.ts';

/**
 * What `sim/<name>/main.ts` exports: a byte-level device for `farhand sim <name>`. The folder name is its
 * name; there is no list to edit.
 */
export interface Simulator {
  readonly about: string;
  /** Longer text for `--help`. */
  readonly details?: string;
  readonly examples: readonly string[];
  readonly options: Record<string, OptionSpec>;
  /**
   * Opens its port and prints one line with the word `ready` and its address; runs until `stop` is aborted,
   * releases everything, and resolves with the exit code.
   */
  run(given: Given, stop: AbortSignal): Promise<number>;
}

const here = path.dirname(fileURLToPath(import.meta.url));

export function simulatorNames(): string[] {
  return readdirSync(here, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && readdirSync(path.join(here, entry.name)).includes('main.js'))
    .map((entry) => entry.name)
    .sort();
}

export async function loadSimulator(name: string): Promise<Simulator> {
  const names = simulatorNames();
  if (!names.includes(name)) {
    const near = closest(name, names);
    throw new TeleopError('bad-option', `no simulator "${name}"`, {
      hint: `${near ? `Did you mean "${near}"? ` : ''}Available: ${names.join(', ')}.`,
    });
  }
  return (await import(pathToFileURL(path.join(here, name, 'main.js')).href)) as Simulator;
}
