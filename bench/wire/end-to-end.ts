import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Place } from '../../src/check/place.ts';
import { packageRoot } from '../../src/files/package-root.ts';
import { readTraceParts } from '../../src/trace/read-file.ts';
import { createReport, summaryOf, type TraceSummary } from '../../src/trace/report.ts';
import { createKey, writeKeyFile } from '../../src/wire/secure/key-file.ts';
import { interruption } from '../interrupt.ts';

const WARM_UP_NS = 1e9;

/** The whole product across the place: hand to actuator, encrypted, without a playout buffer. */
export async function endToEnd(place: Place, seconds: number): Promise<TraceSummary> {
  const folder = mkdtempSync(path.join(tmpdir(), 'farhand-wire-'));
  const keyFile = path.join(folder, 'bench.key');
  const traces = path.join(folder, 'traces');
  writeKeyFile(keyFile, { name: 'bench', key: createKey(), createdAt: new Date().toISOString() });
  const verb = (side: 'rx' | 'tx', name: string, ...args: string[]) => {
    const bin = path.join(packageRoot, 'bin', 'farhand');
    const [command, ...rest] = place.at(side, [
      process.execPath,
      bin,
      name,
      `link.keyFile=${keyFile}`,
      ...args,
    ]);
    return spawn(command!, rest, { stdio: ['ignore', 'pipe', 'inherit'], signal: interruption });
  };
  const robot = verb('rx', 'robot', `link.listenHost=${place.host}`, 'robot.playout=none');
  const children: ChildProcess[] = [robot];
  try {
    await firstLine(robot);
    const operator = verb('tx', 'operator', `link.robotHost=${place.host}`, `trace.dir=${traces}`);
    children.push(operator);
    await firstLine(operator);
    await sleep(seconds * 1000 + 1500, undefined, { signal: interruption });
  } finally {
    for (const child of children.reverse()) await ended(child);
  }
  const report = createReport();
  let firstNs = Number.NaN;
  await readTraceParts(path.join(traces, readdirSync(traces)[0]!), (record) => {
    if (Number.isNaN(firstNs)) firstNs = record.sampledNs;
    if (record.sampledNs - firstNs >= WARM_UP_NS) report.add(record);
  });
  rmSync(folder, { recursive: true, force: true });
  return summaryOf(report.finish());
}

function firstLine(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.stdout!.once('data', () => resolve());
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`a role ended early (${code})`)));
  });
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  const done = new Promise<void>((resolve) => child.once('close', () => resolve()));
  child.kill('SIGTERM');
  return done;
}
