import type { Reason } from '../../core/counters.ts';
import { countOf, frameBody, numberOf } from './frame.ts';
import { JsonReader, TextCache } from './json-reader.ts';
import { JsonWriter, keyBytes, TextBytes } from './json-writer.ts';

/** One four-stamp exchange: t0 and t3 on the operator's clock, t1 and t2 on the robot's. */
export interface Probe {
  id: number;
  /** Identifies a start of the robot: after a restart its clock may have another zero. */
  boot: number;
  t0: number;
  t1: number;
  t2: number;
  /** Identity of the robot's monotonic clock, and its wall − monotonic time; empty and NaN where unknown. */
  clock: string;
  wallUs: number;
}

const MAX_CLOCK_CHARS = 64;

export const emptyProbe = (): Probe => ({
  id: 0,
  boot: 0,
  t0: 0,
  t1: 0,
  t2: 0,
  clock: '',
  wallUs: Number.NaN,
});

const KEY = {
  ...{ id: keyBytes('id'), boot: keyBytes('boot'), t0: keyBytes('t0'), t1: keyBytes('t1') },
  ...{ t2: keyBytes('t2'), clock: keyBytes('clock'), wallUs: keyBytes('wall_us') },
};
const writer = new JsonWriter();
const reader = new JsonReader();
const clockText = new TextBytes();
const lastClock = new TextCache();

export function encodeProbe(probe: Probe, out: Uint8Array): number {
  writer.numbers[0] = probe.id;
  writer.numbers[1] = probe.t0;
  writer.begin('probe', out);
  writeNumber(KEY.id, 0);
  writeNumber(KEY.t0, 1);
  return writer.end();
}

export function encodeProbeReply(probe: Probe, out: Uint8Array): number {
  const { numbers } = writer;
  numbers[0] = probe.id;
  numbers[1] = probe.boot;
  numbers[2] = probe.t0;
  numbers[3] = probe.t1;
  numbers[4] = probe.t2;
  numbers[5] = probe.wallUs;
  writer.begin('probeReply', out);
  writeNumber(KEY.id, 0);
  writeNumber(KEY.boot, 1);
  writeNumber(KEY.t0, 2);
  writeNumber(KEY.t1, 3);
  writeNumber(KEY.t2, 4);
  if (probe.clock !== '') {
    writer.key(KEY.clock);
    writer.bytes(clockText.of(probe.clock));
  }
  if (!Number.isNaN(probe.wallUs)) writeNumber(KEY.wallUs, 5);
  return writer.end();
}

function writeNumber(key: Uint8Array, i: number): void {
  writer.key(key);
  writer.number(i, 0);
}

export function decodeProbe(bytes: Uint8Array, length: number, out: Probe): Reason | null {
  if (readProbe(bytes, length, out)) return null;
  const body = frameBody(bytes, length);
  if (body === null) return 'bad-json';
  out.id = countOf(body['id']);
  out.t0 = numberOf(body['t0']);
  return Number.isNaN(out.id + out.t0) ? 'malformed' : null;
}

/** True if it stands as our own encoder writes it; else its JSON decides. */
function readProbe(bytes: Uint8Array, length: number, out: Probe): boolean {
  reader.begin(bytes, length);
  reader.key(KEY.id);
  reader.count(0);
  reader.key(KEY.t0);
  reader.number(1);
  out.id = reader.numbers[0]!;
  out.t0 = reader.numbers[1]!;
  return reader.end();
}

export function decodeProbeReply(bytes: Uint8Array, length: number, out: Probe): Reason | null {
  if (readProbeReply(bytes, length, out)) return null;
  const body = frameBody(bytes, length);
  if (body === null) return 'bad-json';
  out.id = countOf(body['id']);
  out.boot = countOf(body['boot']);
  out.t0 = numberOf(body['t0']);
  out.t1 = numberOf(body['t1']);
  out.t2 = numberOf(body['t2']);
  const { clock = '', wall_us: wallUs = null } = body;
  if (typeof clock !== 'string' || clock.length > MAX_CLOCK_CHARS) return 'malformed';
  out.clock = clock;
  out.wallUs = wallUs === null ? Number.NaN : numberOf(wallUs);
  if (wallUs !== null && Number.isNaN(out.wallUs)) return 'malformed';
  if (Number.isNaN(out.id + out.boot + out.t0 + out.t1 + out.t2)) return 'malformed';
  lastClock.keep(clock);
  return null;
}

/** True if it stands as our own encoder writes it, with the clock of last time; else its JSON decides. */
function readProbeReply(bytes: Uint8Array, length: number, out: Probe): boolean {
  const { numbers } = reader;
  reader.begin(bytes, length);
  reader.key(KEY.id);
  reader.count(0);
  reader.key(KEY.boot);
  reader.count(1);
  readNumber(KEY.t0, 2);
  readNumber(KEY.t1, 3);
  readNumber(KEY.t2, 4);
  out.clock = reader.isOk && reader.has(KEY.clock) ? reader.text(lastClock) : '';
  numbers[5] = Number.NaN;
  if (reader.isOk && reader.has(KEY.wallUs)) reader.number(5);
  out.id = numbers[0]!;
  out.boot = numbers[1]!;
  out.t0 = numbers[2]!;
  out.t1 = numbers[3]!;
  out.t2 = numbers[4]!;
  out.wallUs = numbers[5]!;
  return reader.end();
}

function readNumber(key: Uint8Array, i: number): void {
  reader.key(key);
  reader.number(i);
}
