import { z } from 'zod';
import { expectWords, type Given, JSON_OPTION, type Verb } from '../../src/cli/arguments.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { print, SECONDS_OPTION, secondsOf } from '../bench.ts';
import { environment, environmentText, type LoadSeen, loadText, meterLoad } from '../environment.ts';
import { FinishedParts, RESUME_OPTION } from '../finished-parts.ts';
import { interruption } from '../interrupt.ts';
import { WRITE_DOCS, writeDocsOption, writeOutput } from '../output-in-docs.ts';
import { Progress } from '../progress.ts';
import { checkText } from '../text-table.ts';
import { allocationPerTick, allocationText } from './allocation.ts';
import { busyLoops } from './busy-loops.ts';
import { aims, CONDITIONS, type Condition, rowOf, tableLines } from './figures.ts';
import { COOL_DOWN_S, openPaths, PATHS, type Paths, type Times, turnOf, WARM_UP_S } from './paths.ts';

const SECONDS = 600;
const TURN_S = 120;
/** To start and end the processes of a turn. */
const START_S = 8;
const DOCS_FILE = 'docs/benchmarks.md';
const COMMAND = 'npm run bench -- tails --write-docs';

export const tailsBench: Verb = {
  name: 'tails',
  usage: `[--seconds S] [--resume FILE] [--${WRITE_DOCS}] [--json]`,
  about: 'The rare slow messages: p99.9, p99.99 and maximum of ours, a C program, Python UDP and pyzmq.',
  details: `Each path carries 100 messages a second over loopback, first on an idle machine, then beside a busy loop on every
core. All four run at the same time, in turns of ${TURN_S} s with new processes: they meet the same disturbances, and each
other. Ours is from the hand’s sampling to the driver’s write, sealed, without playout. --seconds is the time in each
condition (default ${SECONDS}; about 22 minutes altogether). Run it on a machine with nothing else to do. Exits 0 after a
complete measurement: the aims are printed as met or missed.`,
  options: {
    seconds: { ...SECONDS_OPTION, about: `${SECONDS_OPTION.about} (default ${SECONDS})` },
    resume: RESUME_OPTION,
    [WRITE_DOCS]: writeDocsOption(DOCS_FILE),
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(tailsBench, given, 0, 0);
    const env = environment();
    const allocation = allocationPerTick();
    const paths = await openPaths();
    try {
      const parts = new FinishedParts(
        (given.values['resume'] as string | undefined) ?? null,
        turnSchema as z.ZodType<Turn>,
      );
      const turns = await takeTurns(paths, parts, secondsOf(given, SECONDS));
      const text = [...resultLines(turns), '', allocationText(allocation), ...paths.missing];
      if (given.values[WRITE_DOCS] === true) writeOutput(DOCS_FILE, COMMAND, docsText(env, text));
      const rows = rowsOf(turns);
      const checks = aims(timesOf(turns));
      print(
        given,
        { bench: 'tails', environment: env, rows, allocation, missing: paths.missing, checks },
        [environmentText(env), '', ...text].join('\n'),
      );
      return 0;
    } finally {
      paths.remove();
    }
  },
};

const turnSchema = z.strictObject({
  times: z.partialRecord(z.enum(PATHS), z.array(z.number())),
  load: z.strictObject({
    ownPercent: z.number(),
    otherPercent: z.number().nullable(),
    stealPercent: z.number().nullable(),
    loadAverage1: z.number(),
  }),
});

interface Turn {
  times: Times;
  load: LoadSeen;
}
type Turns = Record<Condition, Turn[]>;

async function takeTurns(paths: Paths, parts: FinishedParts<Turn>, seconds: number): Promise<Turns> {
  const count = Math.max(1, Math.round(seconds / TURN_S));
  const turnS = seconds / count;
  const wholeS = turnS + WARM_UP_S + COOL_DOWN_S + START_S;
  // Alternating, so that drift of the machine affects both conditions.
  const plan = Array.from({ length: count }, (_, turn) =>
    CONDITIONS.map((condition) => ({ condition, key: `${condition} ${turn} of ${count}, ${turnS} s` })),
  ).flat();
  const left = plan.filter(({ key }) => !parts.has(key)).length;
  const progress = new Progress(left, left * wholeS);
  const turns: Turns = { idle: [], busy: [] };
  for (const { condition, key } of plan)
    turns[condition].push(
      await parts.get(key, () =>
        progress.during(`all paths, ${condition}`, wholeS, () => oneTurn(paths, condition, turnS)),
      ),
    );
  return turns;
}

/** Tried again when the demo does not get going, so that one bad start does not cost the whole run. */
async function oneTurn(paths: Paths, condition: Condition, seconds: number, triesLeft = 2): Promise<Turn> {
  const load = meterLoad();
  try {
    const times = await turnOf(paths, seconds, condition === 'busy' ? busyLoops : () => async () => {});
    return { times, load: load() };
  } catch (error) {
    if (triesLeft === 0 || !(error instanceof TeleopError) || interruption.aborted) throw error;
    process.stderr.write(`${error.message}: trying this turn again\n`);
    return oneTurn(paths, condition, seconds, triesLeft - 1);
  }
}

const timesOf = ({ idle, busy }: Turns): Record<Condition, Times[]> => ({
  idle: idle.map(({ times }) => times),
  busy: busy.map(({ times }) => times),
});

function rowsOf(turns: Turns) {
  const times = timesOf(turns);
  return CONDITIONS.flatMap((condition) =>
    PATHS.filter((path) => times[condition].some((turn) => (turn[path]?.length ?? 0) > 0)).map((path) =>
      rowOf(path, condition, times[condition]),
    ),
  );
}

function resultLines(turns: Turns): string[] {
  const rows = rowsOf(turns);
  const least = Math.min(...rows.map(({ messages }) => messages));
  const worst = CONDITIONS.map((condition) => {
    const loads = turns[condition].map(({ load }) => load);
    const most = loads.reduce((a, b) => ((b.otherPercent ?? 0) > (a.otherPercent ?? 0) ? b : a));
    return `${condition}, the most disturbed of ${loads.length} turns: ${loadText(most)}`;
  });
  return [
    ...tableLines(rows),
    '',
    `All paths ran at the same time. p99.99 rests on the slowest ${Math.ceil(least / 10_000)} messages of each path.`,
    ...worst.map((line) => `${line}.`),
    '',
    ...aims(timesOf(turns)).map(checkText),
  ];
}

const docsText = (env: ReturnType<typeof environment>, lines: readonly string[]): string =>
  ['```', environmentText(env), '', ...lines, '```'].join('\n');
