import type { Percentiles } from '../core/statistics/percentiles.ts';
import type { Role } from './role-flags.ts';

/** Statistics of one camera; printed when it ends. */
export interface CameraReport {
  camera: string;
  source: string;
  frames: number;
  bytes: number;
  /** Pictures that could not be read. */
  unreadable: number;
  restarts: number;
  /** Longest and mean time from a picture to its JPEG: without rendering, with resizing and drawing on it. */
  encodeMaxMs: number;
  encodeMeanMs: number;
  /** The last problem, empty if there was none. */
  trouble: string;
}

export interface RoleReady {
  role: Role;
  ports: number[];
  /** What an operator's inputs listen on. */
  inputs: string[];
  reactor: string;
  stampSource: 'kernel' | 'userspace';
  /** `normal`, or `fifo:<priority>`. */
  scheduling: string;
  /** `sealed` by us, `curve` by ZeroMQ, or `plain`. */
  security: string;
  /** Why native sockets are not in use, if they were requested. */
  fallback: string | null;
  tracePath: string | null;
  /** Of two arms: `tracePath` is the left one’s, this is the right one’s. */
  secondTracePath?: string;
}

/** What a role measured about itself; printed when it ends. */
export interface RoleReport {
  role: Role;
  counters: Record<string, number>;
  /** How late the control loop woke for its deadlines. */
  wakeLatenessMs: Percentiles | null;
  stallsOver20Ms: number;
  /** Longest the process's main thread was busy; no deadline depends on it. */
  mainThreadMaxMs: number;
  rssMb: { settled: number; end: number };
  tracePath: string | null;
  /** Of two arms: `tracePath` is the left one’s, this is the right one’s. */
  secondTracePath?: string;
  /** Commands that did not reach the trace file. */
  traceDropped: number;
  /** Of a robot with cameras. */
  cameras: CameraReport[];
  /** Of an operator: why something was not recorded; empty if nothing was lost. */
  recordTrouble: string;
  /** Files with data missing because the disk rejected it, in words. */
  losses: string[];
}
