import type { ListedKey } from '../wire/secure/key-file.ts';

/** How a socket of the link behaved when it spoke to itself for half a second. */
export interface SelfTest {
  /** Kernel's stamp to program, nanoseconds; empty without stamps. */
  stampGapNs: number[];
  /** How late each wake-up was. */
  wakeLateNs: number[];
  scheduling: string;
}

/** What packets of ours looked like at the other end, and answers here. */
export interface Marks {
  /** Where the other end was. */
  where: string;
  /** Type of service seen there and on the way back; null unknown. */
  there: number | null;
  back: number | null;
  /** Half a round trip, and what the other clock is known to, milliseconds; null without an answer. */
  oneWayMs: { p50: number; p99: number } | null;
  clockUncertaintyMs: number | null;
}

/** Readings of a machine. Checks see nothing else, so that each can be tried on the readings of a bad one. */
export interface Probe {
  platform: string;
  /** 0 is root; −1 where there are no users. */
  uid: number;
  /** Content of a file without the white space around it; null when it is missing or may not be read. */
  read(path: string): string | null;
  /** Names in a folder; none when it is missing. */
  list(path: string): string[];
  /** What a program prints; null when it is missing or fails. */
  run(command: string, ...args: string[]): string | null;
  /** Whether the file may be read and written. */
  mayUse(path: string): boolean;
  /** Version of an optional package; null when it is missing. */
  packageVersion(name: string): Promise<string | null>;
  /** With this SCHED_FIFO priority; the message of the failure where there are no native sockets. */
  selfTest(priority: number): Promise<SelfTest | string>;
  /** At the robot's echo, or a socket of this machine where `host` is null; or why not. */
  marks(host: string | null): Promise<Marks | string>;
  /** Whether a port on loopback can be had. */
  isFree(kind: 'udp' | 'tcp', port: number): Promise<boolean>;
  /** Keys of this user's pairs. */
  keys(): readonly ListedKey[];
  /** Busy share of all processors over a moment, percent of one: everything, and stolen by the hypervisor. */
  load(): Promise<{ busyPercent: number; stealPercent: number; cores: number } | null>;
}
