import { z } from 'zod';
import { compareOn, type LinkComparison } from '../../src/app/check/compare-links.ts';
import { TRANSPORTS } from '../../src/app/compare-transports.ts';
import { expectWords, type Given, JSON_OPTION, numberOption, type Verb } from '../../src/cli/arguments.ts';
import { figureCells, HEADINGS } from '../../src/cli/comparison-text.ts';
import { temporaryFolder } from '../../src/files/temporary-folder.ts';
import { print, SECONDS_OPTION, secondsOf } from '../bench.ts';
import { environment, environmentText, type LoadSeen, loadText, meterLoad } from '../environment.ts';
import { FinishedParts, RESUME_OPTION } from '../finished-parts.ts';
import { interrupted } from '../interrupt.ts';
import { WRITE_DOCS, writeDocsOption, writeOutput } from '../output-in-docs.ts';
import { Progress } from '../progress.ts';

const LINKS = ['local', 'wired', 'profile:wifi', 'profile:wifi-untuned', 'profile:5g', 'profile:loss2'];
/** Seconds of a slice, of which the first ten are not judged. Good links take turns, so that theirs are shorter. */
const SECONDS = { together: 45, inTurn: 18 };
const SLICES = 2;
/** To start and end both roles of one transport, and of all at once; and the second that is left out. */
const START_S = { together: 14, inTurn: 6 };
const DOCS_FILE = 'docs/check.md';
const COMMAND = 'sudo npm run bench -- transports --write-docs';

export const transportsBench: Verb = {
  name: 'transports',
  usage: `[--links KIND,…] [--seconds S] [--slices N] [--resume FILE] [--${WRITE_DOCS}] [--json]`,
  about: 'UDP, ZeroMQ, WebSocket and an unordered WebRTC data channel over good and bad links.',
  details: `Needs root: operator and robot run in two network namespaces, and the emulator carries the packets between
them, so that TCP is the kernel’s own. Over an emulated link all transports run at the same time, each with namespaces and
an emulator of its own that begin the same weather together. On good links, where the machine is the limit, they take
turns. No playout. --seconds is the time of each slice (default ${SECONDS.together} together, ${SECONDS.inTurn} in turn; the first ten
are not judged), --slices the number per transport and link (default ${SLICES}). About 14 minutes.`,
  options: {
    links: { type: 'string', value: 'KIND,…', about: `default ${LINKS.join(',')}` },
    seconds: { ...SECONDS_OPTION, about: 'seconds of each slice' },
    slices: { type: 'string', value: 'N', about: `slices per transport and link (default ${SLICES})` },
    resume: RESUME_OPTION,
    [WRITE_DOCS]: writeDocsOption(DOCS_FILE),
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(transportsBench, given, 0, 0);
    const env = environment();
    const found = await compareAll(given);
    const text = [...tableLines(found), '', ...loadLines(found)];
    if (given.values[WRITE_DOCS] === true)
      writeOutput(
        DOCS_FILE,
        COMMAND,
        [environmentText(env).replaceAll('\n', '  \n'), '', ...text].join('\n'),
      );
    print(
      given,
      { bench: 'transports', environment: env, links: found },
      [environmentText(env), '', ...text].join('\n'),
    );
    return 0;
  },
};

interface Found {
  comparison: LinkComparison;
  load: LoadSeen;
}

const isTogether = (kind: string): boolean => kind.startsWith('profile:');

async function compareAll(given: Given): Promise<Found[]> {
  const links = (given.values['links'] as string | undefined)?.split(',') ?? LINKS;
  const slices = Math.round(numberOption(given, 'slices', 1, 100) ?? SLICES);
  const how = planOf(given);
  // Written and read by this bench alone.
  const parts = new FinishedParts((given.values['resume'] as string | undefined) ?? null, z.custom<Found>());
  const key = (kind: string) => `${kind}, ${slices} × ${how(kind).seconds} s`;
  const left = links.filter((kind) => !parts.has(key(kind)));
  const lengthS = (kind: string) => slices * how(kind).sliceS;
  const progress = new Progress(
    left.length,
    left.reduce((sum, kind) => sum + lengthS(kind), 0),
  );
  const found: Found[] = [];
  const folder = temporaryFolder('transports');
  try {
    for (const kind of links) {
      const measure = () => compare(kind, slices, how(kind).seconds, folder.path);
      found.push(await parts.get(key(kind), () => progress.during(kind, lengthS(kind), measure)));
    }
  } finally {
    folder.remove();
  }
  return found;
}

/** Measured seconds of a slice of a link, and the time a slice of all transports takes. */
function planOf(given: Given) {
  return (kind: string) => {
    const way = isTogether(kind) ? 'together' : 'inTurn';
    const seconds = secondsOf(given, SECONDS[way]);
    const sliceS = (seconds + START_S[way]) * (way === 'together' ? 1 : TRANSPORTS.length);
    return { seconds, sliceS };
  };
}

async function compare(kind: string, slices: number, seconds: number, dir: string): Promise<Found> {
  const load = meterLoad();
  const { result } = await compareOn({
    kind,
    rig: 'demo',
    overrides: [`trace.dir=${dir}`],
    transports: TRANSPORTS,
    together: isTogether(kind),
    slices,
    durationS: seconds * slices * TRANSPORTS.length,
    settleS: 0,
    budget: null,
    robotHost: null,
    echoPort: 0,
    baseline: false,
    stop: interrupted,
    onPhase: () => {},
    onProgress: () => {},
  });
  return { comparison: result, load: load() };
}

const loadLines = (found: readonly Found[]): string[] => [
  'Over emulated links all four transports ran at the same time; over local and wired they took turns.',
  ...found.map(({ comparison, load }) => `- ${nameOf(comparison)}: ${loadText(load)}`),
];

const nameOf = ({ kind }: LinkComparison): string => kind.replace('profile:', '');

/** Markdown, as in docs/check.md. */
function tableLines(found: readonly Found[]): string[] {
  const head = ['link', 'transport', 'p50 ms', 'p99 ms', 'max ms', ...HEADINGS];
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rows = found.flatMap(({ comparison }) =>
    comparison.transports.map((name) => {
      const figures = comparison.of[name]!;
      const { p50, p99, max } = figures.actedMs;
      const ms = [p50, p99, max].map(({ value }) => value.toFixed(value < 10 ? 2 : 1));
      return [nameOf(comparison), name, ...ms, ...figureCells(figures)];
    }),
  );
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}
