import { spawn } from 'node:child_process';
import path from 'node:path';
import { packageRoot } from '../files/package-root.ts';
import type { DoctorReport, Finding } from '../messages/console.ts';

const TIMEOUT_MS = 60_000;

/** Runs `farhand doctor` as a process of its own: it measures, and would hold this one up. One at a time. */
export class DoctorRun {
  #running: Promise<DoctorReport> | null = null;

  examine(): Promise<DoctorReport> {
    this.#running ??= examineOnce().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }
}

function examineOnce(): Promise<DoctorReport> {
  const startedMs = performance.now();
  const bin = path.join(packageRoot, 'bin', 'farhand');
  const child = spawn(process.execPath, [bin, 'doctor', '--json'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIMEOUT_MS,
  });
  let out = '';
  let errors = '';
  child.stdout.on('data', (data: Buffer) => {
    out += data.toString();
  });
  child.stderr.on('data', (data: Buffer) => {
    errors += data.toString();
  });
  return new Promise((resolve) => {
    const done = (failure: string) => {
      const findings = parseFindings(out);
      const tookS = Math.round((performance.now() - startedMs) / 100) / 10;
      const reported =
        findings.length > 0 ? '' : failure || errors.trim().split('\n')[0] || 'it said nothing';
      resolve({ findings, tookS, failure: reported });
    };
    child.on('error', (error) => done(error.message));
    child.on('close', () => done(''));
  });
}

/** The last line that is a list of findings; what is not one is left out. */
function parseFindings(text: string): Finding[] {
  for (const line of text.trim().split('\n').reverse()) {
    try {
      const value: unknown = JSON.parse(line);
      const list = Array.isArray(value) ? value : (value as { findings?: unknown } | null)?.findings;
      if (Array.isArray(list)) return list.filter(isFinding);
    } catch {
      // Not this line.
    }
  }
  return [];
}

const isFinding = (value: unknown): value is Finding =>
  typeof value === 'object' && value !== null && 'name' in value && 'verdict' in value && 'found' in value;
