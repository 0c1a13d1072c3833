import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { TeleopError } from '../core/errors.ts';
import { closest } from '../core/suggest.ts';
import { writeWhole } from '../files/write-whole.ts';
import { type PriorJson, parsePrior } from '../robot/playout/adaptive/prior.ts';
import type { Redundancy } from '../robot/playout/playout-policy.ts';
import { createPolicy, POLICY_TEXTS } from '../robot/playout/policy.ts';
import { appliedCsv } from '../robot/playout/replay/applied-csv.ts';
import { COMPARED_POLICIES, type ComparedTrace, compareTrace } from '../robot/playout/replay/compare.ts';
import { replay } from '../robot/playout/replay/replay.ts';
import { scoreOf } from '../robot/playout/replay/score.ts';
import { type DelayTrace, parseDelayTrace } from '../robot/playout/replay/trace.ts';
import { expectWords, type Given, JSON_OPTION, numberOption, type Verb } from './arguments.ts';
import { progressLine } from './progress.ts';

const ACTIONS = ['replay', 'compare'];
const MAX_REDUNDANCY = 32;

export const playoutVerb: Verb = {
  name: 'playout',
  usage: 'replay --trace FILE | compare --traces DIR',
  about: 'Replays recorded delays through a playout policy and scores the result.',
  details: `replay prints the score of one trace and policy as one JSON line; compare prints mean latency (ms) and bad
windows of every policy on every trace in a directory, and of two oracles that know the future.
Traces are CSV, plain or gzipped, at 100 Hz: seq,send_us,delay_us[,clk_us]; an empty delay means lost.

Policies:
${POLICY_TEXTS.map(([name, about]) => `  ${name.padEnd(16)}${about}`).join('\n')}`,
  examples: [
    'farhand playout replay --trace delays.csv --policy adaptive',
    'farhand playout compare --traces delays',
  ],
  options: {
    trace: { type: 'string', value: 'FILE', about: 'trace to replay' },
    policy: { type: 'string', value: 'P', about: 'policy to use (default: adaptive)' },
    traces: { type: 'string', value: 'DIR', about: 'directory of traces to compare' },
    redundancy: {
      type: 'string',
      value: 'K',
      about: 'each packet repeats the last K commands, or auto: as many as the losses call for (default: 0)',
    },
    prior: { type: 'string', value: 'FILE', about: 'start with the prior that an earlier session learned' },
    'save-prior': { type: 'string', value: 'FILE', about: 'write the prior that this session learned' },
    out: { type: 'string', value: 'FILE', about: 'write seq,apply_us,delay_us of every command' },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(playoutVerb, given, 1, 1);
    const [action = ''] = given.words;
    const redundancy = redundancyOption(given);
    if (action === 'replay') return replayOne(given, redundancy);
    if (action === 'compare') return compareAll(given, redundancy);
    const near = closest(action, ACTIONS);
    throw badOption(
      `playout has no action "${action}"`,
      near ? `Did you mean \`farhand playout ${near}\`?` : undefined,
    );
  },
};

function redundancyOption(given: Given): Redundancy {
  if (given.values['redundancy'] === 'auto') return 'auto';
  const redundancy = numberOption(given, 'redundancy', 0, MAX_REDUNDANCY) ?? 0;
  if (!Number.isInteger(redundancy)) throw badOption(`--redundancy ${redundancy} is not a whole number`);
  return redundancy;
}

function replayOne(given: Given, redundancy: Redundancy): number {
  rejectOptions(given, 'replay', ['traces']);
  const trace = readTrace(textOption(given, 'trace') ?? missing('replay', '--trace FILE'));
  const priorPath = textOption(given, 'prior');
  const prior = priorPath === undefined ? undefined : readPrior(priorPath);
  const policy = policyOf(textOption(given, 'policy') ?? 'adaptive', prior, redundancy);
  const savePath = textOption(given, 'save-prior');
  if (policy.exportPrior === undefined && (savePath ?? priorPath) !== undefined)
    throw badOption(`${policy.name} has no prior to load or save`, 'Leave out --prior and --save-prior.');
  const applied = replay(trace, policy, redundancy);
  const score = scoreOf(trace, applied, redundancy !== 0);
  const outPath = textOption(given, 'out');
  if (outPath !== undefined) writeText(outPath, appliedCsv(applied));
  if (savePath !== undefined && policy.exportPrior !== undefined)
    writeText(savePath, `${JSON.stringify(policy.exportPrior())}\n`);
  console.log(JSON.stringify(score ?? { error: 'too few applied commands' }));
  return score === null ? 1 : 0;
}

function compareAll(given: Given, redundancy: Redundancy): number {
  rejectOptions(given, 'compare', ['trace', 'policy', 'prior', 'save-prior', 'out']);
  const directory = textOption(given, 'traces') ?? missing('compare', '--traces DIR');
  const files = traceFiles(directory);
  const progress = progressLine('comparing');
  const compared = files.map((file, done) =>
    compareTrace(readTrace(file), redundancy, (share) => progress.update(done + share, files.length)),
  );
  progress.done();
  if (given.values['json'] === true) console.log(JSON.stringify({ redundancy, traces: compared }));
  else console.log(tableOf(compared));
  return 0;
}

function tableOf(compared: readonly ComparedTrace[]): string {
  const names = ['oracle smooth', 'oracle constant', ...COMPARED_POLICIES];
  const title = 'mean ms/bad windows';
  const left = Math.max(title.length, ...names.map((name) => name.length));
  const widths = compared.map(({ name }) => Math.max(name.length, 9) + 2);
  const line = (head: string, cells: string[]) =>
    `${head.padEnd(left)}${cells.map((cell, i) => cell.padStart(widths[i]!)).join('')}`;
  const rows = names.map((name) =>
    line(
      name,
      compared.map(({ scores }) => {
        const score = scores[name];
        return score ? `${score.meanMs.toFixed(1)}/${score.badWindows}` : '–';
      }),
    ),
  );
  const head = line(
    title,
    compared.map(({ name }) => name),
  );
  return [head, ...rows].join('\n');
}

const textOption = (given: Given, name: string): string | undefined => {
  const value = given.values[name];
  return typeof value === 'string' ? value : undefined;
};

function rejectOptions(given: Given, action: string, names: readonly string[]): void {
  for (const name of names)
    if (given.values[name] !== undefined) throw badOption(`playout ${action} does not take --${name}`);
}

function missing(action: string, what: string): never {
  throw badOption(`playout ${action} needs ${what}`, `Use \`farhand playout ${action} ${what}\`.`);
}

const badOption = (message: string, hint = 'See `farhand playout --help`.') =>
  new TeleopError('bad-option', message, { hint });

/** Rewrites the hint of an error: the rig's setting robot.playout is --policy here. */
function policyOf(text: string, prior: PriorJson | undefined, redundancy: Redundancy) {
  try {
    return createPolicy(text, { prior, redundancy });
  } catch (cause) {
    if (!(cause instanceof TeleopError)) throw cause;
    throw new TeleopError('bad-option', cause.message, {
      hint: cause.hint.replaceAll('robot.playout=', '--policy '),
      cause,
    });
  }
}

function readTrace(file: string): DelayTrace {
  const bytes = readBytes(file, 'Give a delay trace: FILE.csv or FILE.csv.gz.');
  const name = path.basename(file).replace(/\.csv(\.gz)?$/, '');
  return parseDelayTrace(plainText(file, bytes), name);
}

/** Decompressed size. */
const MAX_TRACE_BYTES = 1 << 30;

function plainText(file: string, bytes: Buffer): string {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  try {
    return (isGzip ? gunzipSync(bytes, { maxOutputLength: MAX_TRACE_BYTES }) : bytes).toString('utf8');
  } catch (cause) {
    const hint = 'The file is truncated, damaged, or larger than 1 GB decompressed: download it again.';
    throw new TeleopError('file-unreadable', `${file} cannot be decompressed`, { hint, cause });
  }
}

function readPrior(file: string): PriorJson {
  const hint = 'Give a file that --save-prior wrote.';
  const text = readBytes(file, hint).toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new TeleopError('file-unreadable', `${file} is not JSON`, { hint, cause });
  }
  const prior = parsePrior(value);
  if (prior === null) throw new TeleopError('file-unreadable', `${file} is not a prior`, { hint });
  return prior;
}

function readBytes(file: string, hint: string): Buffer {
  if (!existsSync(file)) {
    const siblings = existsSync(path.dirname(file)) ? readdirSync(path.dirname(file)) : [];
    const near = closest(path.basename(file), siblings);
    throw new TeleopError('file-missing', `there is no file ${file}`, {
      hint: near ? `Did you mean ${path.join(path.dirname(file), near)}?` : hint,
    });
  }
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new TeleopError('file-unreadable', `${file} cannot be read`, { hint, cause });
  }
}

function traceFiles(directory: string): string[] {
  if (!existsSync(directory) || !statSync(directory).isDirectory())
    throw new TeleopError('file-missing', `there is no directory ${directory}`, {
      hint: 'Give a directory of delay traces: *.csv or *.csv.gz.',
    });
  const names = readdirSync(directory).filter((name) => /\.csv(\.gz)?$/.test(name));
  if (names.length === 0)
    throw new TeleopError('file-missing', `${directory} contains no *.csv or *.csv.gz`, {
      hint: 'Give a directory of delay traces.',
    });
  return names.sort().map((name) => path.join(directory, name));
}

const writeText = (file: string, text: string): void => writeWhole(file, text, { folderMode: 0o755 });
