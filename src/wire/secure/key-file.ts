import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { TeleopError } from '../../core/errors.ts';
import { readBounded } from '../../files/read-bounded.ts';
import { PRIVATE, writeWhole } from '../../files/write-whole.ts';

/** A link key on disk: readable by its owner only, never printed, never part of an error message. */

const FORMAT = 'farhand-key/1';
const KEY_BYTES = 32;
const MAX_FILE_BYTES = 4096;
const SUFFIX = '.key';
// Names become file names and are shown on terminals: allow nothing that leaves the folder or moves the
// cursor.
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** What the robot allows the machine at the other end: a viewer may watch cameras and stop the robot. */
export const KEY_ROLES = ['operator', 'viewer'] as const;
export type KeyRole = (typeof KEY_ROLES)[number];

const fileSchema = z.strictObject({
  format: z.literal(FORMAT),
  name: z.string().regex(NAME),
  created_at: z.iso.datetime(),
  key: z.base64().length(44),
  role: z.enum(KEY_ROLES).default('operator'),
});

export interface LinkKey {
  /** The machine at the other end, by its name on this side. */
  name: string;
  key: Uint8Array;
  /** ISO 8601, UTC. */
  createdAt: string;
  /** Counts on the robot's machine only. `operator` by default. */
  role?: KeyRole;
}

export interface ListedKey {
  name: string;
  path: string;
  /** Null when the file is not usable; `problem` says why. */
  id: string | null;
  createdAt: string | null;
  role: KeyRole | null;
  problem: string | null;
}

export const createKey = (): Uint8Array => new Uint8Array(randomBytes(KEY_BYTES));

/** Identifies a key without revealing it: 16 hexadecimal digits that may be shown and logged. */
export function keyId(key: Uint8Array): string {
  return createHash('sha256').update('farhand key id').update(key).digest('hex').slice(0, 16);
}

export const isKeyName = (name: string): boolean => NAME.test(name);

/** The nearest valid key name, for host names with unusual characters. */
export function asKeyName(text: string): string {
  const name = text
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 64);
  return name === '' ? 'machine' : name;
}

/** FARHAND_KEYS, or farhand/keys in the user's configuration folder. */
export function keyFolder(env: NodeJS.ProcessEnv = process.env): string {
  if (env['FARHAND_KEYS']) return path.resolve(env['FARHAND_KEYS']);
  const config = env['XDG_CONFIG_HOME'];
  // The XDG specification says to ignore relative paths.
  const base = config && path.isAbsolute(config) ? config : path.join(homedir(), '.config');
  return path.join(base, 'farhand', 'keys');
}

export const keyPath = (folder: string, name: string): string => path.join(folder, `${name}${SUFFIX}`);

/** Whether others on this machine may read the file. Windows has no such mode bits: false there. */
export function isExposed(file: string): boolean {
  return exposedMode(statSync(file).mode);
}

/** Rejects a file that others on this machine may read, unless `allowExposed`. */
export function readKeyFile(
  file: string,
  options: { allowExposed?: boolean } = {},
): LinkKey & { role: KeyRole } {
  const { text, mode } = readSmallFile(file);
  if (exposedMode(mode) && options.allowExposed !== true)
    throw new TeleopError('key-exposed', `other users of this machine can read the key ${file}`, {
      hint: `Run \`chmod 600 ${shellWord(file)}\`; pair again if someone may have read it.`,
    });
  const parsed = fileSchema.safeParse(jsonOrNull(text));
  const key = parsed.success ? Buffer.from(parsed.data.key, 'base64') : null;
  if (!parsed.success || key?.length !== KEY_BYTES) {
    const field = parsed.success ? 'key' : parsed.error.issues[0]?.path.join('.');
    // No cause and no quote from the file: both could contain the key.
    throw new TeleopError('file-unreadable', `${file} is not a farhand key${field ? ` (${field})` : ''}`, {
      hint: 'Make a new one with `farhand pair`, or copy the file again.',
    });
  }
  const { name, role, created_at: createdAt } = parsed.data;
  return { name, key: new Uint8Array(key), createdAt, role };
}

/** Writes all or nothing, mode 0600. Without `replace`, an existing file is an error. */
export function writeKeyFile(file: string, entry: LinkKey, options: { replace?: boolean } = {}): void {
  if (entry.key.length !== KEY_BYTES || !isKeyName(entry.name)) throw new Error('invalid key or key name');
  const key = Buffer.from(entry.key).toString('base64');
  const { name, role, createdAt } = entry;
  // Earlier versions know no roles, and reject a file that has one.
  const body = {
    ...{ format: FORMAT, name, created_at: createdAt, key },
    ...(role === 'viewer' ? { role } : {}),
  };
  writeWhole(file, `${JSON.stringify(body)}\n`, {
    ...PRIVATE,
    replace: options.replace === true,
    hint: 'Set FARHAND_KEYS=FOLDER to use another key folder.',
  });
}

/** Every *.key in the folder, by name; unusable ones with their problem. */
export function listKeys(folder: string): ListedKey[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw unreadable(folder, cause as NodeJS.ErrnoException);
  }
  const files = names.filter((name) => name.endsWith(SUFFIX) && !name.startsWith('.')).sort();
  return files.map((fileName) => {
    const name = fileName.slice(0, -SUFFIX.length);
    const file = path.join(folder, fileName);
    try {
      const { key, createdAt, role } = readKeyFile(file);
      return { name, path: file, id: keyId(key), createdAt, role, problem: null };
    } catch (error) {
      if (!(error instanceof TeleopError)) throw error;
      return { name, path: file, id: null, createdAt: null, role: null, problem: error.message };
    }
  });
}

const exposedMode = (mode: number): boolean => process.platform !== 'win32' && (mode & 0o077) !== 0;

function readSmallFile(file: string): { text: string; mode: number } {
  try {
    const { bytes, mode } = readBounded(file, MAX_FILE_BYTES);
    return { text: bytes.toString(), mode };
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT')
      throw new TeleopError('key-missing', `there is no key ${file}`, {
        hint: 'Make one with `farhand pair` on the robot machine; `farhand pair --list` lists keys.',
        cause,
      });
    throw unreadable(file, cause as NodeJS.ErrnoException);
  }
}

function unreadable(file: string, cause: NodeJS.ErrnoException): TeleopError {
  return new TeleopError('file-unreadable', `${file} cannot be read: ${cause.code ?? cause.message}`, {
    hint: `Check its owner (ls -l ${shellWord(file)}); only the user who paired may read a key.`,
    cause,
  });
}

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const shellWord = (word: string): string =>
  /^[\w./@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
