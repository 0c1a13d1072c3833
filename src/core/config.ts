import { z } from 'zod';
import { TeleopError } from './errors.ts';
import { parseIp } from './ip-address.ts';
import { closest } from './suggest.ts';

export type ConfigTree = { [key: string]: unknown };

/** One source of settings; later layers win. */
export interface ConfigLayer {
  /** `rig file demo.yaml`, `command line`: shown as provenance. */
  source: string;
  values: ConfigTree;
}

export interface ConfigEntry {
  key: string;
  value: unknown;
  source: string;
  about: string;
}

export interface ResolvedConfig<T> {
  config: T;
  entries: ConfigEntry[];
}

/** Merges the layers, validates once, freezes, and remembers where every value came from. */
export function resolveConfig<T>(schema: z.ZodType<T>, layers: readonly ConfigLayer[]): ResolvedConfig<T> {
  const merged = emptyTree();
  const sources = new Map<string, string>();
  for (const layer of layers) merge(merged, layer.values, '', layer.source, sources);
  const parsed = schema.safeParse(merged);
  if (!parsed.success) throw configError(schema, parsed.error.issues[0]!, sources);
  const entries: ConfigEntry[] = [];
  for (const [key, value] of leaves(parsed.data))
    entries.push({ key, value, source: sourceOf(key, sources), about: describe(schema, key) });
  return { config: deepFreeze(parsed.data), entries };
}

/** `robot.speedPercent=40` → a tree. The value is parsed by `parse` (YAML at the edge). */
export function overrideTree(text: string, parse: (text: string) => unknown): ConfigTree {
  const at = text.indexOf('=');
  if (at < 1)
    throw new TeleopError('bad-config', `"${text}" is not an override`, {
      hint: 'Write overrides as key=value, for example robot.speedPercent=40.',
    });
  let value: unknown;
  try {
    const given = text.slice(at + 1);
    // To YAML, "::" is a mapping.
    value = given.includes(':') && parseIp(given) !== null ? given : parse(given);
  } catch (cause) {
    throw new TeleopError(
      'bad-config',
      `the value of "${text}" cannot be read: ${(cause as Error).message}`,
      {
        hint: 'Quote a value with brackets, braces or colons: key="\'value\'".',
        cause,
      },
    );
  }
  refuseJoinedColon(text.slice(0, at), value);
  for (const part of text.slice(0, at).split('.').reverse()) value = { [part]: value };
  return value as ConfigTree;
}

/** YAML reads {port:5670} as one key without a value. */
function refuseJoinedColon(key: string, value: unknown): void {
  for (const [name, inner] of isTree(value) ? Object.entries(value) : []) {
    const [, before, after] = /^([\w-]+):(\S.*)$/.exec(name) ?? [];
    if (inner === null && before !== undefined)
      throw new TeleopError('bad-config', `"${name}" needs a space after its colon, as YAML has it`, {
        hint: `Write ${key}.${before}=${after}, or '${key}={${before}: ${after}}'.`,
      });
  }
}

function merge(
  into: ConfigTree,
  from: ConfigTree,
  path: string,
  source: string,
  sources: Map<string, string>,
): void {
  for (const [name, value] of Object.entries(from)) {
    const key = path === '' ? name : `${path}.${name}`;
    // Schemas and plain objects would drop it without a word.
    if (name === '__proto__')
      throw new TeleopError('bad-config', `unknown setting "${key}" (from ${source})`, {
        hint: 'No setting, joint or device can have this name.',
      });
    if (isTree(value)) {
      if (!isTree(into[name])) into[name] = emptyTree();
      merge(into[name] as ConfigTree, value, key, source, sources);
    } else into[name] = value;
    sources.set(key, source);
  }
}

/** Without a prototype, so that a key in a file never hits an inherited property. */
const emptyTree = (): ConfigTree => Object.create(null) as ConfigTree;

const isTree = (value: unknown): value is ConfigTree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function* leaves(value: unknown, path = ''): Generator<[string, unknown]> {
  if (!isTree(value) || Object.keys(value).length === 0) yield [path, value];
  else
    for (const [name, inner] of Object.entries(value))
      yield* leaves(inner, path === '' ? name : `${path}.${name}`);
}

function sourceOf(key: string, sources: Map<string, string>): string {
  return sources.get(key) ?? 'default';
}

/** The `.describe()` text of a dotted key, through defaults and optionals. */
function describe(schema: z.ZodType, key: string): string {
  let here: z.ZodType | undefined = schema;
  for (const part of key.split('.')) here = shapeOf(here)?.[part];
  return here?.description ?? '';
}

function shapeOf(schema: z.ZodType | undefined): Record<string, z.ZodType> | undefined {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional)
    return shapeOf(schema.def.innerType as z.ZodType);
  return schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : undefined;
}

function configError(schema: z.ZodType, issue: z.core.$ZodIssue, sources: Map<string, string>): TeleopError {
  const path = issue.path.join('.');
  const from = sources.has(path) ? ` (from ${sources.get(path)})` : '';
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0] ?? '';
    let here: z.ZodType | undefined = schema;
    for (const part of issue.path) here = shapeOf(here)?.[String(part)];
    const known = Object.keys(shapeOf(here) ?? {});
    const full = path === '' ? key : `${path}.${key}`;
    const near = closest(key, known);
    const hint = near ? `Did you mean "${near}"?` : `Known here: ${known.join(', ')}.`;
    const origin = sources.has(full) ? ` (from ${sources.get(full)})` : '';
    return new TeleopError('bad-config', `unknown setting "${full}"${origin}`, { hint });
  }
  const about = describe(schema, path);
  return new TeleopError('bad-config', `setting "${path}" is not valid${from}: ${issue.message}`, {
    hint: `${about ? `It means: ${about}. ` : ''}See \`farhand config explain\` for all settings.`,
  });
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)) {
    for (const inner of Object.values(value)) deepFreeze(inner);
    Object.freeze(value);
  }
  return value;
}
