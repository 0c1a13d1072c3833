import type { Given, OptionSpec } from '../src/cli/arguments.ts';
import { numberOption } from '../src/cli/arguments.ts';

export const SECONDS_OPTION: OptionSpec = {
  type: 'string',
  value: 'S',
  about: 'seconds to measure per path or slice',
};

export const secondsOf = (given: Given, fallback: number): number =>
  numberOption(given, 'seconds', 1, 3600) ?? fallback;

/** Prints one line of JSON, or text; nothing else goes to stdout. */
export function print(given: Given, json: unknown, text: string): void {
  console.log(given.values['json'] === true ? JSON.stringify(json) : text);
}
