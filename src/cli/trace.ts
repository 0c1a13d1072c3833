import path from 'node:path';
import { TeleopError } from '../core/errors.ts';
import { openDraft } from '../files/write-whole.ts';
import { differences } from '../trace/diff.ts';
import { diffText } from '../trace/diff-text.ts';
import { feelFigures } from '../trace/feel.ts';
import { reportPage } from '../trace/html/page.ts';
import { PerfettoWriter } from '../trace/perfetto.ts';
import { type OnRecord, type OtherLines, readTraceParts, type TraceFileInfo } from '../trace/read-file.ts';
import { createReport, summaryOf } from '../trace/report.ts';
import { completeness } from '../trace/report-notes.ts';
import { reportText } from '../trace/report-text.ts';
import { type RunSample, RunSampler } from '../trace/run-sample.ts';
import { SkewMeter, skewText } from '../trace/skew.ts';
import { type Given, JSON_OPTION, type Verb } from './arguments.ts';
import { progressLine } from './progress.ts';

export const traceVerb: Verb = {
  name: 'trace',
  usage: 'report FILE… | diff A B | skew LEFT RIGHT | export FILE… --perfetto OUT',
  about: 'Shows from a trace where the time went: p50/p95/p99/max of latency and variation per segment.',
  details: `FILE is a robot_trace_*.jsonl; its further parts are read too. Several files are reported as one run.
report also judges every second, and names the cause of bad ones; --html OUT writes it as one page.
diff shows which figures of run B differ significantly from run A, by resampling whole seconds.
skew shows how far apart two arms applied the commands of one tick (docs/bimanual.md).
export writes Chrome trace events for ui.perfetto.dev.`,
  examples: [
    'farhand trace report traces/robot_trace_*.jsonl',
    'farhand trace report run.jsonl --html report.html',
    'farhand trace diff before.jsonl after.jsonl',
  ],
  options: {
    json: JSON_OPTION,
    html: { type: 'string', value: 'OUT', about: 'report: also write a self-contained HTML page' },
    perfetto: { type: 'string', value: 'OUT', about: 'export: the file to write' },
  },
  async run(given: Given) {
    const [action, ...paths] = given.words;
    if (action === 'report' && paths.length > 0) return report(given, paths);
    if (action === 'diff' && paths.length === 2) return diff(given, paths[0]!, paths[1]!);
    if (action === 'skew' && paths.length === 2) return skew(given, paths[0]!, paths[1]!);
    if (action === 'export' && paths.length > 0) return exportTo(given, paths);
    throw badWords(action, paths.length);
  },
};

async function report(given: Given, paths: readonly string[]): Promise<number> {
  const html = given.values['html'] as string | undefined;
  const builder = createReport(html !== undefined);
  const files = await readAll(paths, (record) => builder.add(record), {
    onMotion: (motion) => builder.addMotion(motion),
    onVideo: (frame) => builder.addVideo(frame),
    onTouch: (touch) => builder.addTouch(touch),
  });
  const finished = builder.finish();
  if (html !== undefined) await writeOut(html, (put) => put(reportPage(finished, files)));
  if (given.values['json'] === true)
    console.log(JSON.stringify({ ...summaryOf(finished), ...completeness(files) }));
  else console.log(reportText(finished, files, process.stdout.columns ?? 120));
  if (html !== undefined && given.values['json'] !== true) console.log(`Page      ${html}`);
  return 0;
}

async function diff(given: Given, a: string, b: string): Promise<number> {
  const runs: RunSample[] = [];
  for (const file of [a, b]) {
    const sampler = new RunSampler();
    await readAll([file], (record) => sampler.add(record));
    runs.push(sampler.finish());
  }
  const [before, after] = runs as [RunSample, RunSample];
  const found = differences(before, after, seeded());
  if (given.values['json'] === true)
    console.log(
      JSON.stringify({ a, b, feel: [feelFigures(before.feel), feelFigures(after.feel)], differences: found }),
    );
  else console.log(diffText([path.basename(a), path.basename(b)], [before, after], found));
  return 0;
}

async function skew(given: Given, left: string, right: string): Promise<number> {
  const meter = new SkewMeter();
  await readAll([left], (record) => meter.addLeft(record));
  await readAll([right], (record) => meter.addRight(record));
  const found = meter.finish();
  if (found.skewMs === null)
    throw new TeleopError('no-trace', 'the two traces have no tick in which both arms applied a command', {
      hint: 'Give the two traces of one run: traces/left/robot_trace_X.jsonl traces/right/robot_trace_X.jsonl.',
    });
  if (given.values['json'] === true) console.log(JSON.stringify(found));
  else console.log(skewText(found));
  return 0;
}

async function exportTo(given: Given, paths: readonly string[]): Promise<number> {
  const out = given.values['perfetto'] as string | undefined;
  if (out === undefined)
    throw new TeleopError('bad-option', 'trace export needs --perfetto OUT', {
      hint: 'Use `farhand trace export traces/robot_trace_….jsonl --perfetto run.json`.',
    });
  let events = 0;
  await writeOut(out, async (put) => {
    const writer = new PerfettoWriter(put);
    await readAll(paths, (record) => writer.add(record));
    put(writer.end());
    events = writer.events;
  });
  console.log(`${out}: ${events} events. Open it at ui.perfetto.dev; it stays in your browser.`);
  return 0;
}

async function readAll(
  paths: readonly string[],
  onRecord: OnRecord,
  others: OtherLines = {},
): Promise<TraceFileInfo[]> {
  const progress = progressLine('reading');
  const files: TraceFileInfo[] = [];
  for (const file of paths) files.push(...(await readTraceParts(file, onRecord, progress.update, others)));
  progress.done();
  return files;
}

const CHUNK_CHARS = 1 << 20;

/** Writes in chunks: an export may be larger than memory. */
async function writeOut(
  out: string,
  write: (put: (text: string) => void) => void | Promise<void>,
): Promise<void> {
  let waiting = '';
  const draft = openDraft(out);
  try {
    await write((text) => {
      waiting += text;
      if (waiting.length < CHUNK_CHARS) return;
      draft.write(waiting);
      waiting = '';
    });
    draft.write(waiting);
    draft.commit();
  } finally {
    draft.discard();
  }
}

/** Deterministic random numbers, so that the same runs give the same result. */
function seeded(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function badWords(action: string | undefined, files: number): TeleopError {
  const known = ['report', 'diff', 'skew', 'export'].includes(action ?? '');
  const message = !known
    ? `trace has no action "${action ?? ''}"`
    : action === 'diff' || action === 'skew'
      ? `trace ${action} needs two trace files, not ${files}`
      : 'no trace file given';
  return new TeleopError('bad-option', message, {
    hint: 'Use `farhand trace report traces/robot_trace_….jsonl`, or see `farhand trace --help`.',
  });
}
