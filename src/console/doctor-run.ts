import { spawn } from 'node:child_process';
import path from 'node:path';
import { packageRoot } from '../files/package-root.ts';
import type { DoctorReport, Finding } from '../messages/console.ts';

const TIMEOUT_MS = 60_000;

/** Runs `farhand doctor` in its own process, since its measurements would block this one. One at a time. */
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
  const child = spawn(process.execPath, [bin, 'doctor', '--json', '--running'], {
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
        findings.length > 0 ? '' : failure || errors.trim().split('\n')[0] || 'the doctor reported nothing';
      resolve({ findings, tookS, failure: reported });
    };
    child.on('error', (error) => done(error.message));
    child.on('close', () => done(''));
  });
}

/** The findings in the last line that holds a list; other entries are ignored. */
function parseFindings(text: string): Finding[] {
  for (const line of text.trim().split('\n').reverse()) {
    try {
      const value: unknown = JSON.parse(line);
      const list = Array.isArray(value) ? value : (value as { findings?: unknown } | null)?.findings;
      if (Array.isArray(list)) return list.filter(isFinding);
    } catch {
      // Not JSON: try the line before it.
    }
  }
  return [];
}

const isFinding = (value: unknown): value is Finding =>
  typeof value === 'object' && value !== null && 'name' in value && 'verdict' in value && 'found' in value;
