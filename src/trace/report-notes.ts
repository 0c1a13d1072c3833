import { formatMs } from './milliseconds.ts';
import type { TraceFileInfo } from './read-file.ts';
import type { TraceReport } from './report.ts';

/** Less is not worth a note. */
const MIN_CLOCK_NOTE_NS = 1e6;

/** What a reader must know to interpret the numbers; sentences without their full stop. */
export function notesOf(report: TraceReport, files: readonly TraceFileInfo[]): string[] {
  return [...measurementNotes(report), ...fileNotes(files)];
}

function measurementNotes(report: TraceReport): string[] {
  const notes: string[] = [];
  const { applied, unsynchronized, withoutKernel, withoutRelease, droppedWireNs: wire } = report;
  if (unsynchronized > 0) {
    const [are, have] = unsynchronized === 1 ? ['is', 'has'] : ['are', 'have'];
    notes.push(
      `${plural(unsynchronized, 'command')} before the first clock offset ${are} counted but ${have} no cross-clock times`,
    );
  }
  if (withoutKernel > 0)
    notes.push(`${share(withoutKernel, applied, 'kernel')}: wire includes the robot's receive path`);
  if (withoutRelease > 0) {
    notes.push(
      `${share(withoutRelease, applied, 'released')}: playout counts as 0 and apply starts at receive`,
    );
  }
  if (wire !== null) {
    notes.push(
      `the table covers applied commands only; the ${report.dropped} dropped as stale spent ` +
        `p50 ${formatMs(wire.p50)}, max ${formatMs(wire.max)} ms on the wire`,
    );
  }
  if (report.moved > 0 && report.moved < applied)
    notes.push(
      `the motion of ${report.moved} of ${applied} applied commands was large enough to be detected`,
    );
  if (!report.isExact)
    notes.push(
      'there are too many commands to keep them all: percentiles are accurate to 0.1 %, maxima are exact',
    );
  notes.push(...clockNotes(report));
  if ((report.segments.wire.latencyNs?.p50 ?? 0) < 0) {
    notes.push('the wire median is negative: the clock offset error exceeds the time on the wire');
  }
  return notes;
}

/** A wire time is no better known than the clock offset; an uneven path biases it by half the difference. */
function clockNotes({ segments, clockUncertaintyNs: clock }: TraceReport): string[] {
  const wireNs = segments.wire.latencyNs?.p50;
  if (clock === null || wireNs === undefined || clock.last < Math.max(MIN_CLOCK_NOTE_NS, 0.5 * wireNs))
    return [];
  const [low, high] = [Math.max(0, wireNs - clock.last), wireNs + clock.last];
  return [
    `the median time on the wire lies between ${formatMs(low)} and ${formatMs(high)} ms: the clocks are known to ` +
      `±${formatMs(clock.last)} ms, and a path that is slower in one direction looks like any other (docs/latency.md#the-clock)`,
  ];
}

/** Whether the files contain every closed command, and how many lines or commands are known to be missing. */
export function completeness(files: readonly TraceFileInfo[]): { complete: boolean; missing: number } {
  const missing = files.reduce(
    (sum, { bad, torn, footer }) => sum + bad + torn + (footer?.ringDropped ?? 0),
    0,
  );
  return { complete: missing === 0 && files.every(({ footer }) => footer !== null), missing };
}

function fileNotes(files: readonly TraceFileInfo[]): string[] {
  const sum = (of: (file: TraceFileInfo) => number) => files.reduce((total, file) => total + of(file), 0);
  const notes: string[] = [];
  const torn = sum((file) => file.torn);
  const bad = sum((file) => file.bad);
  const dropped = sum((file) => file.footer?.ringDropped ?? 0);
  if (dropped > 0)
    notes.push(
      `${plural(dropped, 'closed command')} did not reach the file and ${dropped === 1 ? 'is' : 'are'} missing here`,
    );
  if (bad > 0) notes.push(`${plural(bad, 'line')} could not be read`);
  if (torn > 0) notes.push('the last line is torn: the writer was interrupted');
  else if (files.length > 0 && files.at(-1)!.footer === null)
    notes.push('the trace was not closed: its end may be missing');
  return notes;
}

function share(n: number, of: number, stamp: string): string {
  return n === of ? `no ${stamp} stamps` : `${n} of ${of} applied commands have no ${stamp} stamp`;
}

function plural(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}
