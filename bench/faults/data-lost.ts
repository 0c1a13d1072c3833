import { readdirSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../../src/core/errors.ts';
import { recoverEpisode } from '../../src/record/recover.ts';
import { readTraceFile } from '../../src/trace/read-file.ts';

export interface DataLost {
  /** Commands without a line, between the first and the last line. */
  lines: number;
  /** From the last line's command to the end of the operator; 0 if the trace was closed. */
  tailMs: number;
  text: string;
}

/** What an operator's trace and recordings lack; `endNs`: when it ended or was killed. */
export async function dataLost(traces: string, recordings: string, endNs: number): Promise<DataLost> {
  const trace = await traceLost(traces, endNs);
  const parts = [trace.text, ...recordingsLost(recordings)].filter((text) => text !== '');
  return { ...trace, text: parts.join('; ') || 'nothing' };
}

async function traceLost(folder: string, endNs: number): Promise<DataLost> {
  const seqs = new Map<number, Set<number>>();
  let lastNs = Number.NaN;
  let torn = 0;
  let isClosed = true;
  let files = 0;
  for (const file of filesIn(folder, (name) => name.startsWith('robot_trace_'))) {
    files++;
    await readTraceFile(file, ({ session, seq, sampledNs }) => {
      if (!seqs.has(session)) seqs.set(session, new Set());
      seqs.get(session)!.add(seq);
      lastNs = Math.max(Number.isNaN(lastNs) ? sampledNs : lastNs, sampledNs);
    }).then((info) => {
      torn += info.torn;
      isClosed = info.footer !== null;
    }, ignoreEmpty);
  }
  const lines = [...seqs.values()].reduce((sum, seen) => {
    const numbers = [...seen];
    return sum + Math.max(...numbers) - Math.min(...numbers) + 1 - numbers.length;
  }, 0);
  // A closed trace has all its lines.
  const tailMs = isClosed ? 0 : Math.max(0, (endNs - lastNs) / 1e6);
  const texts = [
    files === 0 || Number.isNaN(lastNs) ? 'no trace' : '',
    lines > 0 ? `${lines} trace lines` : '',
    tailMs > 0 ? `last ${Math.round(tailMs)} ms of the trace` : '',
    torn > 0 ? 'a torn line' : '',
  ];
  return { lines, tailMs, text: texts.filter((text) => text !== '').join(', ') };
}

function recordingsLost(folder: string): string[] {
  const open = filesIn(folder, (name) => name.endsWith('.part'));
  return open.map((file) => {
    try {
      const { rows, lostRows } = recoverEpisode(file, `${file}.recovered.mcap`, 'bench');
      return `recording unfinished, ${rows} rows recoverable${lostRows > 0 ? `, ${lostRows} lost` : ''}`;
    } catch (error) {
      return `recording unfinished: ${(error as Error).message.slice(0, 60)}`;
    }
  });
}

function filesIn(folder: string, wanted: (name: string) => boolean): string[] {
  return readdirSync(folder)
    .filter(wanted)
    .sort()
    .map((name) => path.join(folder, name));
}

function ignoreEmpty(error: unknown): void {
  if (!(error instanceof TeleopError && error.code === 'no-trace')) throw error;
}
