import { type ParseArgsConfig, parseArgs } from 'node:util';
import { TeleopError } from '../core/errors.ts';
import { closest } from '../core/suggest.ts';

export interface OptionSpec {
  type: 'string' | 'boolean';
  short?: string;
  /** Shown as `--name VALUE`. */
  value?: string;
  about: string;
}

export interface Verb {
  name: string;
  /** What follows the name: `FILE`, `[key=value …]`. */
  usage: string;
  about: string;
  /** Longer text for `--help`, if the line above is not enough. */
  details?: string;
  /** Commands as they are typed, for `--help`. */
  examples?: readonly string[];
  options: Record<string, OptionSpec>;
  /** The arguments are passed on unparsed as `words`: the verb has sub-verbs. */
  ownWords?: true;
  run(given: Given): Promise<number>;
}

export interface Given {
  values: Record<string, string | boolean | undefined>;
  words: string[];
  /** Words of the form key=value. */
  overrides: string[];
}

const HELP: OptionSpec = { type: 'boolean', short: 'h', about: 'show this help' };

export const RIG_OPTION: OptionSpec = {
  type: 'string',
  value: 'NAME|FILE',
  about: 'rig to use; rig=NAME also works (default: demo)',
};
export const JSON_OPTION: OptionSpec = { type: 'boolean', about: 'print JSON' };

/** Parses strictly: an unknown option is rejected, and the error suggests the nearest known one. */
export function parseVerb(verb: Verb, args: readonly string[]): Given {
  if (verb.ownWords && !/^(-h|--help)$/.test(args[0] ?? ''))
    return { values: {}, words: [...args], overrides: [] };
  const options: NonNullable<ParseArgsConfig['options']> = {};
  for (const [name, spec] of Object.entries({ ...verb.options, help: HELP }))
    options[name] = spec.short ? { type: spec.type, short: spec.short } : { type: spec.type };
  try {
    const { values, positionals } = parseArgs({
      args: joinNegatives(args, verb),
      options,
      allowPositionals: true,
      strict: true,
    });
    const overrides = positionals.filter((word) => /^[\w.-]+=/.test(word));
    const words = positionals.filter((word) => !overrides.includes(word));
    return takeRig(verb, { values: values as Given['values'], words, overrides });
  } catch (cause) {
    if (cause instanceof TeleopError) throw cause;
    throw badOption(verb, cause as Error);
  }
}

/** `--duration -1` as `--duration=-1`: a negative number is a value, and the verb says what is wrong with it. */
function joinNegatives(args: readonly string[], verb: Verb): string[] {
  const out: string[] = [];
  for (const word of args) {
    const last = out.at(-1) ?? '';
    const takesValue = last.startsWith('--') && verb.options[last.slice(2)]?.type === 'string';
    if (takesValue && /^-\.?\d/.test(word)) out[out.length - 1] = `${last}=${word}`;
    else out.push(word);
  }
  return out;
}

/** `rig=NAME` among the settings means `--rig NAME`. */
function takeRig(verb: Verb, given: Given): Given {
  if (verb.options['rig']?.value !== RIG_OPTION.value) return given;
  const isRig = (word: string) => word.startsWith('rig=');
  const named = given.overrides.filter(isRig).map((word) => word.slice('rig='.length));
  const overrides = given.overrides.filter((word) => !isRig(word));
  const names = new Set([...named, given.values['rig'] ?? named[0]]);
  if (names.size > 1)
    throw new TeleopError('bad-option', `two different rigs given: ${[...names].join(' and ')}`, {
      hint: 'Give one, as --rig NAME or rig=NAME.',
    });
  return { ...given, values: { ...given.values, rig: named[0] ?? given.values['rig'] }, overrides };
}

function badOption(verb: Verb, cause: Error): TeleopError {
  const option = /'(--?[\w-]+)/.exec(cause.message)?.[1] ?? '';
  const known = [...Object.keys(verb.options), 'help'].map((name) => `--${name}`);
  const near = closest(option, known);
  if (cause.message.includes('argument is ambiguous'))
    return new TeleopError('bad-option', `${option} needs a value`, {
      hint: `Write ${option}=VALUE if the value begins with a dash.`,
      cause,
    });
  const unknown = cause.message.startsWith('Unknown option');
  const message = unknown
    ? `${verb.name} has no option ${option}`
    : (cause.message.split('. ')[0] ?? cause.message);
  return new TeleopError('bad-option', message, {
    hint: near && near !== option ? `Did you mean ${near}?` : `See \`farhand ${verb.name} --help\`.`,
    cause,
  });
}

export function verbHelp(verb: Verb): string {
  const rows = Object.entries({ ...verb.options, help: HELP }).map(([name, spec]) => {
    const short = spec.short ? `-${spec.short}, ` : '    ';
    return [`  ${short}--${name}${spec.value ? ` ${spec.value}` : ''}`, spec.about] as const;
  });
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  const options = rows.map(([left, about]) => `${left.padEnd(width)}${about}`).join('\n');
  const details = verb.details ? `\n\n${verb.details.trim()}` : '';
  const examples = verb.examples ? `Examples:\n${verb.examples.map((line) => `  ${line}\n`).join('')}\n` : '';
  return `Usage: farhand ${verb.name} ${verb.usage}\n\n${verb.about}${details}\n\n${examples}Options:\n${options}\n`;
}

/** The number an option was given, or null. Throws if it is not a number in the range. */
export function numberOption(given: Given, name: string, min: number, max: number): number | null {
  const text = given.values[name];
  if (text === undefined) return null;
  const value = Number(text);
  if (text === '' || !Number.isFinite(value) || value < min || value > max)
    throw new TeleopError('bad-option', `--${name} ${String(text)} is not a number from ${min} to ${max}`, {
      hint: `For example, --${name} ${Math.max(min, Math.min(max, 10))}.`,
    });
  return value;
}

/** A seed that people choose: a whole number. */
export function seedOption(given: Given): number | null {
  const seed = numberOption(given, 'seed', 0, Number.MAX_SAFE_INTEGER);
  if (seed === null || Number.isInteger(seed)) return seed;
  throw new TeleopError('bad-option', `--seed ${seed} is not a whole number`, {
    hint: 'For example, --seed 7.',
  });
}

/** Throws unless the verb was given `min` to `max` words. */
export function expectWords(verb: Verb, given: Given, min: number, max: number): void {
  if (given.words.length >= min && given.words.length <= max) return;
  const message =
    given.words.length < min
      ? `${verb.name} needs ${verb.usage}`
      : `${verb.name} does not take "${given.words[max]}"`;
  throw new TeleopError('bad-option', message, { hint: `See \`farhand ${verb.name} --help\`.` });
}
