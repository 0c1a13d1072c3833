import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type DemoOptions, type DemoResult, runDemo } from '../src/app/run-demo.ts';
import type { TraceRecord } from '../src/messages/trace-record.ts';
import { readTraceParts } from '../src/trace/read-file.ts';
import { interrupted } from './interrupt.ts';

export interface DemoRun extends DemoResult {
  /** Every completed command of the run. */
  records: TraceRecord[];
}

export interface DemoRunOptions {
  overrides: readonly string[];
  /** Seconds after both roles are ready; null runs until `stop`. */
  durationS: number | null;
  stop?: Promise<void>;
  link?: DemoOptions['link'];
  /** Lines such as "robot: armed → engaged (…)". */
  onSay?: (text: string) => void;
}

/** Runs the headless demo, with both roles as separate processes; reads its trace and removes it. */
export async function demoRun(options: DemoRunOptions): Promise<DemoRun> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'farhand-bench-'));
  try {
    const result = await runDemo({
      rig: 'demo',
      overrides: [...options.overrides, `trace.dir=${dir}`],
      headless: true,
      durationS: options.durationS,
      link: options.link,
      stop: Promise.race([interrupted, options.stop ?? interrupted]),
      say: options.onSay ?? (() => {}),
      onUrl: () => {},
    });
    const records: TraceRecord[] = [];
    await readTraceParts(result.tracePath, (record) => records.push(record));
    return { ...result, records };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
