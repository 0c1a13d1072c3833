import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import type { Finding, Repair } from './check.ts';

/** The only permitted changes: running state that a reboot reverts, and that `previous` or `undo` restores. */
const SAFE_FILES = [
  /^\/sys\/devices\/system\/cpu\/cpu\d+\/cpufreq\/scaling_governor$/,
  /^\/proc\/sys\/net\/core\/rmem_max$/,
  /^\/sys\/class\/net\/[\w.-]+\/tx_queue_len$/,
  /^\/sys\/bus\/usb-serial\/devices\/tty\w+\/latency_timer$/,
];
const SAFE_COMMANDS = [/^iw dev [\w.-]+ set power_save (on|off)$/, /^iwconfig [\w.-]+ power (on|off)$/];

export interface Repaired {
  /** What was done, as a command. */
  did: string;
  /** The command that undoes it. */
  undo: string;
  /** Why it failed; null if it succeeded. */
  failed: string | null;
}

/** Access to the machine. */
export interface Effects {
  write(path: string, value: string): void;
  run(command: string, args: readonly string[]): void;
}

const machine: Effects = {
  write: (path, value) => writeFileSync(path, value),
  run: (command, args) => void execFileSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'] }),
};

export const repairsOf = (findings: readonly Finding[]): Repair[] =>
  findings.flatMap(({ repairs = [] }) => repairs).filter(isSafe);

export function isSafe(repair: Repair): boolean {
  if (repair.kind === 'write') return SAFE_FILES.some((pattern) => pattern.test(repair.path));
  const isListed = (command: readonly string[]) =>
    SAFE_COMMANDS.some((pattern) => pattern.test(command.join(' ')));
  return isListed(repair.command) && isListed(repair.undo);
}

export function repairText(repair: Repair): { did: string; undo: string } {
  if (repair.kind === 'run')
    return { did: `sudo ${repair.command.join(' ')}`, undo: `sudo ${repair.undo.join(' ')}` };
  const tee = (value: string) => `echo ${value} | sudo tee ${repair.path}`;
  return { did: tee(repair.value), undo: tee(repair.previous) };
}

/** Applies a permitted repair; any other is a bug. */
export function applyRepair(repair: Repair, effects: Effects = machine): Repaired {
  if (!isSafe(repair)) throw new Error(`not a safe repair: ${repairText(repair).did}`);
  const text = repairText(repair);
  try {
    if (repair.kind === 'write') effects.write(repair.path, repair.value);
    else effects.run(repair.command[0]!, repair.command.slice(1));
    return { ...text, failed: null };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const failed = code === 'EACCES' || code === 'EPERM' ? 'needs root' : message.split('\n')[0]!;
    return { ...text, failed };
  }
}
