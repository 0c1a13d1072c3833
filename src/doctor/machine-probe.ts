import { execFileSync } from 'node:child_process';
import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageRoot } from '../files/package-root.ts';
import { keyFolder, listKeys } from '../wire/secure/key-file.ts';
import { isPortFree, marksOf, selfTest } from './measurements.ts';
import type { Probe } from './probe.ts';

const COMMAND_MS = 3000;
const LOAD_MS = 500;
const TICKS_PER_S = 100;

/** Reads this machine. `echoPort` is the port of `farhand check echo` on the robot's host. */
export function machineProbe(echoPort: number): Probe {
  return {
    platform: process.platform,
    uid: process.getuid?.() ?? -1,
    read: (file) => attempt(() => readFileSync(file, 'utf8').trim()),
    list: (folder) => attempt(() => readdirSync(folder)) ?? [],
    run: (command, ...args) =>
      attempt(() =>
        execFileSync(command, args, {
          encoding: 'utf8',
          timeout: COMMAND_MS,
          stdio: ['ignore', 'pipe', 'ignore'],
        }).trim(),
      ),
    mayUse: (file) =>
      attempt(() => {
        accessSync(file, constants.R_OK | constants.W_OK);
        return true;
      }) ?? false,
    packageVersion,
    selfTest,
    marks: (host) => marksOf(host, echoPort),
    isFree: isPortFree,
    keys: () => listKeys(keyFolder()),
    load,
  };
}

function attempt<T>(operation: () => T): T | null {
  try {
    return operation();
  } catch {
    return null;
  }
}

/** Loaded to test their native part; the other packages start threads when loaded. */
const LOADED = ['zeromq', 'serialport'];

async function packageVersion(name: string): Promise<string | null> {
  if (LOADED.includes(name))
    try {
      await import(name);
    } catch {
      return null;
    }
  const from = createRequire(path.join(packageRoot, 'package.json'));
  for (const folder of from.resolve.paths(name) ?? []) {
    const text = attempt(() => readFileSync(path.join(folder, name, 'package.json'), 'utf8'));
    if (text !== null) return String((JSON.parse(text) as { version?: string }).version ?? '');
  }
  return null;
}

async function load(): Promise<{ busyPercent: number; stealPercent: number; cores: number } | null> {
  const before = cpuTicks();
  await sleep(LOAD_MS);
  const after = cpuTicks();
  if (before === null || after === null) return null;
  const percent = (ticks: number) => (100 * ticks) / ((TICKS_PER_S * LOAD_MS) / 1000);
  return {
    busyPercent: percent(after.busy - before.busy),
    stealPercent: percent(after.steal - before.steal),
    cores: os.cpus().length,
  };
}

function cpuTicks(): { busy: number; steal: number } | null {
  return attempt(() => {
    const cpu = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]!.split(/\s+/).slice(1).map(Number);
    const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = cpu;
    return { busy: user + nice + system + irq + softirq, steal };
  });
}
