import { TeleopError } from '../../../core/errors.ts';

/** Recorded one-way delays of a command stream, one row per command in send order. */
export interface DelayTrace {
  name: string;
  count: number;
  /** Send time by the sender's clock. */
  sendUs: Float64Array;
  /** Arrival minus send stamp; NaN: lost. */
  delayUs: Float64Array;
  /** How far the sender's clock was ahead of true time; NaN if not recorded. */
  clockMs: Float64Array;
}

const HINT =
  'A delay trace is CSV with one command per line: seq,send_us,delay_us[,clk_us]; an empty delay means lost.';

/** Throws `file-unreadable` if the text is not a delay trace. */
export function parseDelayTrace(text: string, name: string): DelayTrace {
  const lines = text.split('\n').filter((line) => line.length > 1 && line[0] !== '#');
  const header = lines[0]?.trim() ?? '';
  if (!/^seq,send_us,delay_us\b/.test(header))
    throw unreadable(`${name} has no header "seq,send_us,delay_us"`);
  const count = lines.length - 1;
  if (count < 2) throw unreadable(`${name}: too few commands: ${count}, at least 2 needed`);
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
    throw unreadable(`${trace.name}: row ${i} is not valid: "${line.slice(0, 60)}"`);
}

/** Interpolates linearly between known values. */
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
