import type { Reason } from '../../core/counters.ts';
import { countOf, frameBody, numberOf, writeFrame } from './frame.ts';

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

export function encodeProbe(probe: Probe, out: Uint8Array): number {
  return writeFrame('probe', { id: probe.id, t0: Math.round(probe.t0) }, out);
}

export function encodeProbeReply(probe: Probe, out: Uint8Array): number {
  const { id, boot, t0, t1, t2, clock, wallUs } = probe;
  const body = { id, boot, t0: Math.round(t0), t1: Math.round(t1), t2: Math.round(t2) };
  const shared = {
    ...(clock === '' ? {} : { clock }),
    ...(Number.isNaN(wallUs) ? {} : { wall_us: Math.round(wallUs) }),
  };
  return writeFrame('probeReply', { ...body, ...shared }, out);
}

export function decodeProbe(bytes: Uint8Array, length: number, out: Probe): Reason | null {
  const body = frameBody(bytes, length);
  if (body === null) return 'bad-json';
  out.id = countOf(body['id']);
  out.t0 = numberOf(body['t0']);
  return Number.isNaN(out.id + out.t0) ? 'malformed' : null;
}

export function decodeProbeReply(bytes: Uint8Array, length: number, out: Probe): Reason | null {
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
  return Number.isNaN(out.id + out.boot + out.t0 + out.t1 + out.t2) ? 'malformed' : null;
}
