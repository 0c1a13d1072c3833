import { connectFleet, type FleetConnection } from '../../src/fleet/connection.ts';

/** Settings of both sides of a run. */
export interface Load {
  url: string;
  robotCreds: string;
  operatorCreds: string;
  /** Number of the first robot of a share. */
  first: number;
  robots: number;
  leases: number;
  seconds: number;
}

export const TELEMETRY_HZ = 10;
export const PRESENCE_HZ = 1;
export const RENEW_MS = 500;
export const POLL_MS = 400;
export const SIGNAL_MS = 1000;
export const TELEMETRY_BYTES = 200;
/** Size of a WebRTC offer or answer. */
export const SIGNAL_BYTES = 2000;

export const robotName = (n: number): string => `sim-${n}`;

const AT_ONCE = 8;
const TRIES = 4;

/** A server allows two seconds to prove a key, which may be too short for so many on a busy machine. */
async function connectOne(url: string, creds: string): Promise<FleetConnection> {
  for (let n = 1; ; n++) {
    try {
      return await connectFleet(url, creds);
    } catch (error) {
      if (n === TRIES) throw error;
    }
  }
}

/** Many connections, some at a time. */
export async function connectMany(url: string, creds: string, count: number): Promise<FleetConnection[]> {
  const made: FleetConnection[] = [];
  while (made.length < count) {
    const now = Math.min(AT_ONCE, count - made.length);
    made.push(...(await Promise.all(Array.from({ length: now }, () => connectOne(url, creds)))));
  }
  return made;
}

export interface RobotsDone {
  published: number;
  polls: number;
  pollMs: number[];
}

export interface OperatorsDone {
  renewMs: number[];
  signalMs: number[];
  leasesLost: number;
  signalsLost: number;
  telemetryReceived: number;
  presenceReceived: number;
}
