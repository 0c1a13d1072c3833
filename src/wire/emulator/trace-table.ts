import { TeleopError } from '../../core/errors.ts';
import { NS_PER_MS } from '../../core/time/clock.ts';

/** Recorded one-way delays in sending order; repeats after `periodNs`. Arrays are in shared memory. */
export interface TraceTable {
  sendNs: Float64Array;
  /** NaN: lost. */
  delayNs: Float64Array;
  periodNs: number;
}

const NS_PER_US = 1e3;
const MAX_DELAY_NS = 60_000 * NS_PER_MS;

interface Row {
  sendUs: number;
  delayUs: number;
  clockUs: number;
}

/**
 * Reads `seq,send_us,delay_us[,clk_us]`. Skips the heading and lines that start with #. `clk_us` is the error
 * of the sender's stamps where known, interpolated linearly; the table holds true times.
 */
export function parseTraceTable(text: string, name: string): TraceTable {
  const rows: Row[] = [];
  let line = 0;
  for (const raw of text.split('\n')) {
    line++;
    const content = raw.trim();
    if (content === '' || content.startsWith('#') || content.startsWith('seq')) continue;
    rows.push(parseRow(content.split(','), name, line));
  }
  if (rows.length < 2) throw unreadable(`${name} holds ${rows.length} rows`);
  fillClock(rows);
  rows.sort((a, b) => a.sendUs - a.clockUs - (b.sendUs - b.clockUs));
  return tableOf(rows, name);
}

function parseRow(cells: readonly string[], name: string, line: number): Row {
  const [, send = '', delay = '', clock = ''] = cells;
  const sendUs = Number(send);
  const delayUs = delay === '' ? Number.NaN : Number(delay);
  const isDelay = delay === '' || Math.abs(delayUs) * NS_PER_US <= MAX_DELAY_NS;
  if (cells.length < 3 || send === '' || !Number.isFinite(sendUs) || !isDelay)
    throw unreadable(`${name}, line ${line}: "${cells.join(',').slice(0, 60)}" is not seq,send_us,delay_us`);
  return { sendUs, delayUs, clockUs: clock === '' ? Number.NaN : Number(clock) };
}

function fillClock(rows: Row[]): void {
  let known = -1;
  rows.forEach((row, i) => {
    if (Number.isNaN(row.clockUs)) return;
    const last = rows[known];
    for (let j = known + 1; j < i; j++) {
      const part = (j - known) / (i - known);
      rows[j]!.clockUs = last ? last.clockUs + (row.clockUs - last.clockUs) * part : row.clockUs;
    }
    known = i;
  });
  for (let j = known + 1; j < rows.length; j++) rows[j]!.clockUs = rows[known]?.clockUs ?? 0;
}

function tableOf(rows: readonly Row[], name: string): TraceTable {
  const sendNs = new Float64Array(new SharedArrayBuffer(8 * rows.length));
  const delayNs = new Float64Array(new SharedArrayBuffer(8 * rows.length));
  rows.forEach((row, i) => {
    sendNs[i] = (row.sendUs - row.clockUs) * NS_PER_US;
    delayNs[i] = Math.max(0, row.delayUs + row.clockUs) * NS_PER_US;
  });
  const firstNs = sendNs[0]!;
  const lastNs = sendNs[rows.length - 1]!;
  if (firstNs < 0 || lastNs <= firstNs)
    throw unreadable(`${name}: send_us must start at 0 or later and increase`);
  return { sendNs, delayNs, periodNs: lastNs + (lastNs - firstNs) / (rows.length - 1) };
}

function unreadable(what: string): TeleopError {
  return new TeleopError('file-unreadable', what, {
    hint: 'A delay trace is CSV, one datagram per line: seq,send_us,delay_us; an empty delay means lost.',
  });
}

/**
 * Delay of the last row sent at or before `timeNs`, wrapping around at the end; NaN where it was lost. Hot
 * path.
 */
export function traceDelayNs(table: TraceTable, timeNs: number): number {
  const { sendNs, delayNs, periodNs } = table;
  const withinNs = timeNs % periodNs;
  let low = 0;
  let high = sendNs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sendNs[middle]! <= withinNs) low = middle + 1;
    else high = middle;
  }
  return delayNs[low === 0 ? delayNs.length - 1 : low - 1]!;
}
