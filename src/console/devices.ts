import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { renameSync, statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { TeleopError } from '../core/errors.ts';
import { type JsonProblem, parseJson } from '../core/parse-json.ts';
import { unwritable } from '../files/write-whole.ts';
import { consoleFolder, readIfThere, writePrivate } from './private-file.ts';

/** Operators may take control, one at a time; viewers watch, and may stop the robot. */
export const ROLES = ['operator', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

const FORMAT = 'farhand-devices/1';
const TOKEN_BYTES = 32;
const MAX_NAME = 40;
const MAX_DEVICES = 64;
const MAX_FILE_BYTES = 1 << 20;
const DAY_MS = 24 * 3600e3;
/** After this a device must be paired again. */
export const DEVICE_DAYS = 30;

const deviceSchema = z.strictObject({
  id: z.string().regex(/^[0-9a-f]{8}$/),
  name: z.string().max(MAX_NAME),
  role: z.enum(ROLES),
  /** SHA-256 of its token: the file alone does not grant access. */
  tokenHash: z.string().regex(/^[0-9a-f]{64}$/),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
});
const fileSchema = z.strictObject({ format: z.literal(FORMAT), devices: z.array(deviceSchema) });

export type Device = z.infer<typeof deviceSchema>;

export const newToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url');
const hashOf = (token: string): Buffer =>
  createHash('sha256').update('farhand device').update(token).digest();

/** Cleans a device's name: one line, without control characters. */
function deviceName(text: string): string {
  const name = text
    .replace(/[^\p{L}\p{N}._'()-]+/gu, ' ')
    .trim()
    .slice(0, MAX_NAME);
  return name === '' ? 'device' : name;
}

/** The paired devices, in one file. Another process's change takes effect at the next access. */
export class DeviceStore {
  readonly #file: string;
  readonly #nowMs: () => number;
  #devices: Device[] = [];
  #readMs = -1;
  /** Why the file is not a list of devices; null: it is one, or does not exist. */
  #damage: JsonProblem | null = null;

  constructor(folder = consoleFolder(), nowMs: () => number = Date.now) {
    this.#file = path.join(folder, 'devices.json');
    this.#nowMs = nowMs;
  }

  /** Throws if the file exists but cannot be read, or is damaged. */
  check(): void {
    this.#read();
    if (this.#damage !== null)
      throw new TeleopError('file-unreadable', `${this.#file} is damaged: ${this.#damage}`, {
        hint: 'Restore it from a backup, or pair the devices again: the damaged file is then kept under another name.',
      });
  }

  /** The devices that have not expired; none while the file is damaged; as last read while the file cannot be read. */
  list(): readonly Device[] {
    try {
      this.#read();
    } catch (error) {
      if (typeof (error as NodeJS.ErrnoException).code !== 'string') throw error;
    }
    return this.#devices.filter((device) => Date.parse(device.expiresAt) > this.#nowMs());
  }

  #read(): void {
    const writtenMs = statSync(this.#file, { throwIfNoEntry: false })?.mtimeMs ?? -1;
    if (writtenMs === this.#readMs) return;
    const text = readIfThere(this.#file);
    const file = text === null ? { devices: [] } : parseJson(text, fileSchema, MAX_FILE_BYTES);
    this.#damage = typeof file === 'string' ? file : null;
    this.#devices = typeof file === 'string' ? [] : file.devices;
    this.#readMs = writtenMs;
  }

  /**
   * Returns the token, which is not stored: only its hash is. Above the limit the oldest device is dropped.
   */
  add(name: string, role: Role): { device: Device; token: string } {
    const token = newToken();
    const nowMs = this.#nowMs();
    const device: Device = {
      id: randomBytes(4).toString('hex'),
      name: deviceName(name),
      role,
      tokenHash: hashOf(token).toString('hex'),
      createdAt: new Date(nowMs).toISOString(),
      expiresAt: new Date(nowMs + DEVICE_DAYS * DAY_MS).toISOString(),
    };
    // Throws if the file cannot be read: unknown entries must not be overwritten.
    this.#read();
    if (this.#damage !== null) this.#moveAside();
    this.#write([...this.list(), device].slice(-MAX_DEVICES));
    return { device, token };
  }

  /** Compares every entry, so that the time taken reveals nothing. */
  find(token: string): Device | null {
    const hash = hashOf(token);
    let found: Device | null = null;
    for (const device of this.list())
      if (timingSafeEqual(hash, Buffer.from(device.tokenHash, 'hex'))) found = device;
    return found;
  }

  has(id: string): boolean {
    return this.list().some((device) => device.id === id);
  }

  /** By id or name; returns how many were forgotten. */
  forget(idOrName: string): number {
    this.check();
    const devices = this.list();
    const kept = devices.filter(({ id, name }) => id !== idOrName && name !== idOrName);
    if (kept.length < devices.length) this.#write(kept);
    return devices.length - kept.length;
  }

  /** A damaged file may still be of use to whoever repairs it. */
  #moveAside(): void {
    const stamp = new Date(this.#nowMs()).toISOString().replaceAll(':', '-');
    try {
      renameSync(this.#file, this.#file.replace(/json$/, `damaged-${stamp}.json`));
    } catch (cause) {
      throw unwritable(this.#file, cause);
    }
    this.#damage = null;
  }

  #write(devices: Device[]): void {
    writePrivate(this.#file, `${JSON.stringify({ format: FORMAT, devices })}\n`);
    this.#devices = devices;
    this.#readMs = -1;
  }
}
