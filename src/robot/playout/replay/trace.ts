import { TeleopError } from '../../../core/errors.ts';

/** Recorded one-way delays of a command stream, one row per command in the order of sending. */
export interface DelayTrace {
  name: string;
  count: number;
  /** Stamp of the sender, by its own clock. */
  sendUs: Float64Array;
  /** Of the arrival after the stamp; NaN: lost. */
  delayUs: Float64Array;
  /** What the sender's clock was ahead of the truth; NaN where not recorded. */
  clockMs: Float64Array;
}

const HINT =
  'A delay trace is CSV, one command a line: seq,send_us,delay_us[,clk_us]; an empty delay means lost.';

/** Throws `file-unreadable` when the text is no delay trace. */
export function parseDelayTrace(text: string, name: string): DelayTrace {
  const lines = text.split('\n').filter((line) => line.length > 1 && line[0] !== '#');
  const header = lines[0]?.trim() ?? '';
  if (!/^seq,send_us,delay_us\b/.test(header))
    throw unreadable(`${name} has no header "seq,send_us,delay_us"`);
  const count = lines.length - 1;
  if (count < 2) throw unreadable(`${name} holds ${count} commands`);
  const trace: DelayTrace = {
    name,
    count,
    sendUs: new Float64Array(count),
    delayUs: new Float64Array(count).fill(Number.NaN),
    clockMs: new Float64Array(count).fill(Number.NaN),
  };
  for (let i = 0; i < count; i++) readRow(lines[i + 1]!, i, trace);
  interpolate(trace.clockMs);
  return trace;
}

function readRow(line: string, i: number, trace: DelayTrace): void {
  const [seq, sendUs, delayUs, clockUs] = line.trimEnd().split(',');
  trace.sendUs[i] = Number(sendUs || Number.NaN);
  if (delayUs !== undefined && delayUs !== '') trace.delayUs[i] = Number(delayUs);
  if (clockUs !== undefined && clockUs !== '') trace.clockMs[i] = Number(clockUs) / 1000;
  const isWhole = Number(seq) === i && Number.isFinite(trace.sendUs[i]) && delayUs !== undefined;
  if (!isWhole || (delayUs !== '' && !Number.isFinite(trace.delayUs[i])))
    throw unreadable(`${trace.name}: row ${i} reads "${line.slice(0, 60)}"`);
}

/** Straight lines between the places that are known. */
function interpolate(values: Float64Array): void {
  let known = -1;
  for (let i = 0; i < values.length; i++) {
    if (Number.isNaN(values[i])) continue;
    const from = values[known] ?? Number.NaN;
    for (let j = known + 1; known >= 0 && j < i; j++)
      values[j] = from + ((values[i]! - from) * (j - known)) / (i - known);
    known = i;
  }
}

const unreadable = (what: string) => new TeleopError('file-unreadable', what, { hint: HINT });

/** When command `i` was really sent, in milliseconds. */
export const sentMs = ({ sendUs, clockMs }: DelayTrace, i: number): number =>
  sendUs[i]! / 1000 - (Number.isNaN(clockMs[i]) ? 0 : clockMs[i]!);
