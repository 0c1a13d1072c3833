import type { ListedKey } from '../wire/secure/key-file.ts';

/** Timing of a link socket that sent to itself for half a second. */
export interface SelfTest {
  /** Kernel's stamp to program, nanoseconds; empty without stamps. */
  stampGapNs: number[];
  /** How late each wake-up was. */
  wakeLateNs: number[];
  scheduling: string;
}

/** DSCP marks of our packets at the other end, and of its replies here. */
export interface Marks {
  /** The other end. */
  where: string;
  /** Type of service seen there and on the way back; null if unknown. */
  there: number | null;
  back: number | null;
  /** Half a round trip, and uncertainty of the other clock, milliseconds; null without a reply. */
  oneWayMs: { p50: number; p99: number } | null;
  clockUncertaintyMs: number | null;
}

/** Readings of a machine. Checks use nothing else, so each can be tested on the readings of a bad machine. */
export interface Probe {
  platform: string;
  /** 0 is root; −1 where there are no users. */
  uid: number;
  /** Trimmed content of a file; null if it is missing or unreadable. */
  read(path: string): string | null;
  /** Names in a folder; empty if it is missing. */
  list(path: string): string[];
  /** Output of a program; null if it is missing or fails. */
  run(command: string, ...args: string[]): string | null;
  /** Whether the file may be read and written. */
  mayUse(path: string): boolean;
  /** Version of an optional package; null if it is missing. */
  packageVersion(name: string): Promise<string | null>;
  /** Runs at this SCHED_FIFO priority; an error message if there are no native sockets. */
  selfTest(priority: number): Promise<SelfTest | string>;
  /** Measured at the robot's echo, or on this machine if `host` is null; or an error message. */
  marks(host: string | null): Promise<Marks | string>;
  /** Whether a port on loopback is free. */
  isFree(kind: 'udp' | 'tcp', port: number): Promise<boolean>;
  /** Pairing keys of this user. */
  keys(): readonly ListedKey[];
  /** Recent load of all processors, in percent of one: total, and stolen by the hypervisor. */
  load(): Promise<{ busyPercent: number; stealPercent: number; cores: number } | null>;
}
