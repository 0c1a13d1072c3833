import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expectWords, JSON_OPTION, numberOption, type Verb } from '../../src/cli/arguments.ts';
import { print } from '../bench.ts';
import { environment, environmentText, loadText, meterLoad } from '../environment.ts';
import { VerbProcess } from '../estop/verb-process.ts';
import { Progress } from '../progress.ts';
import { checkText } from '../text-table.ts';
import { writeLongTrace } from './long-trace.ts';

const MAX_S = 60;
const MAX_MB = 500;
const POLL_MS = 50;

export const reportBench: Verb = {
  name: 'report',
  usage: '[--hours H] [--json]',
  about:
    'Time and memory of a report with its page over a trace of ten hours at 100 Hz. Exits 1 if out of bounds.',
  details:
    'First writes the trace (2.3 GB for ten hours) to the temporary folder, and removes it at the end.',
  options: {
    hours: { type: 'string', value: 'H', about: 'length of the trace (default: 10)' },
    json: JSON_OPTION,
  },
  async run(given) {
    expectWords(reportBench, given, 0, 0);
    const hours = numberOption(given, 'hours', 0.01, 100) ?? 10;
    const commands = Math.round(hours * 360_000);
    const env = environment();
    const dir = mkdtempSync(path.join(os.tmpdir(), 'farhand-bench-'));
    const progress = new Progress(2, 12 * hours);
    try {
      const trace = path.join(dir, 'long.jsonl');
      const bytes = await progress.during('writing the trace', 8 * hours, async () =>
        writeLongTrace(trace, commands),
      );
      const load = meterLoad();
      const page = path.join(dir, 'page.html');
      const measured = await progress.during('reporting', 4 * hours, () => report(trace, page));
      const seen = load();
      const limitS = (MAX_S * hours) / 10;
      const checks = [
        {
          what: `${commands} commands in ${limitS.toFixed(1)} s`,
          ok: measured.seconds <= limitS,
          found: `${measured.seconds.toFixed(1)} s`,
        },
        {
          what: `memory within ${MAX_MB} MB`,
          ok: measured.peakMb <= MAX_MB,
          found: `${measured.peakMb.toFixed(0)} MB`,
        },
      ];
      const pageMb = statSync(page).size / 1e6;
      const facts = `Trace     ${(bytes / 1e6).toFixed(0)} MB, ${commands} commands; page ${pageMb.toFixed(2)} MB`;
      const text = [environmentText(env), loadText(seen), facts, '', ...checks.map(checkText)].join('\n');
      print(
        given,
        { bench: 'report', environment: env, load: seen, commands, bytes, pageMb, ...measured, checks },
        text,
      );
      return checks.every(({ ok }) => ok) ? 0 : 1;
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

/** Runs the verb as a user would; peak memory as counted by the kernel. */
async function report(trace: string, page: string): Promise<{ seconds: number; peakMb: number }> {
  const startedMs = performance.now();
  const verb = new VerbProcess(['trace', 'report', trace, '--html', page]);
  let peakMb = 0;
  const timer = setInterval(() => {
    peakMb = Math.max(peakMb, peakOf(verb.child.pid) ?? 0);
  }, POLL_MS);
  const code = await verb.exited;
  clearInterval(timer);
  if (code !== 0) throw new Error(`the report ended with code ${code}`);
  return { seconds: (performance.now() - startedMs) / 1000, peakMb };
}

/** Linux only. */
function peakOf(pid: number | undefined): number | null {
  try {
    const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) / 1024;
  } catch {
    return null;
  }
}
