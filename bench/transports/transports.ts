import { compareOn, type LinkComparison } from '../../src/app/check/compare-links.ts';
import { TRANSPORTS } from '../../src/app/compare-transports.ts';
import { expectWords, type Given, JSON_OPTION, numberOption, type Verb } from '../../src/cli/arguments.ts';
import { figureCells, HEADINGS } from '../../src/cli/comparison-text.ts';
import { temporaryFolder } from '../../src/files/temporary-folder.ts';
import { print, SECONDS_OPTION, secondsOf } from '../bench.ts';
import { environment, environmentText } from '../environment.ts';
import { interrupted } from '../interrupt.ts';
import { Progress } from '../progress.ts';

const LINKS = ['local', 'wired', 'profile:wifi', 'profile:wifi-untuned', 'profile:5g', 'profile:loss2'];
/** Judging starts after the first ten seconds of a session. */
const SECONDS = 40;
const SLICES = 2;
/** To start and end both roles, and the second that is left out. */
const START_S = 6;

export const transportsBench: Verb = {
  name: 'transports',
  usage: '[--links KIND,…] [--seconds S] [--slices N] [--json]',
  about: 'UDP, ZeroMQ, WebSocket and an unordered WebRTC data channel over good and bad links.',
  details: `Runs \`farhand check KIND --compare ${TRANSPORTS.join(',')}\` for each link and prints one table. Needs root:
operator and robot run in two network namespaces, and the emulator carries the packets between them, so that TCP is the
kernel’s own. Every transport meets the same weather. No playout. --seconds is the time of each slice (default ${SECONDS}, of
which the first ten are not judged), --slices the number per transport and link (default ${SLICES}). About 40 minutes.`,
  options: {
    links: { type: 'string', value: 'KIND,…', about: `default ${LINKS.join(',')}` },
    seconds: { ...SECONDS_OPTION, about: `seconds of each slice (default ${SECONDS})` },
    slices: { type: 'string', value: 'N', about: `slices per transport and link (default ${SLICES})` },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(transportsBench, given, 0, 0);
    const links = (given.values['links'] as string | undefined)?.split(',') ?? LINKS;
    const slices = Math.round(numberOption(given, 'slices', 1, 100) ?? SLICES);
    const env = environment();
    const found: LinkComparison[] = [];
    const folder = temporaryFolder('transports');
    try {
      const seconds = secondsOf(given, SECONDS);
      const perLinkS = slices * TRANSPORTS.length * (seconds + START_S);
      const progress = new Progress(links.length, links.length * perLinkS);
      for (const kind of links)
        found.push(await progress.during(kind, perLinkS, () => compare(kind, slices, seconds, folder.path)));
    } finally {
      folder.remove();
    }
    const text = [environmentText(env), '', ...tableLines(found)].join('\n');
    print(given, { bench: 'transports', environment: env, links: found }, text);
    return 0;
  },
};

async function compare(kind: string, slices: number, seconds: number, dir: string): Promise<LinkComparison> {
  const { result } = await compareOn({
    kind,
    rig: 'demo',
    overrides: [`trace.dir=${dir}`],
    transports: TRANSPORTS,
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
  return result;
}

/** Markdown, as in docs/check.md. */
function tableLines(found: readonly LinkComparison[]): string[] {
  const head = ['link', 'transport', 'p50 ms', 'p99 ms', 'max ms', ...HEADINGS];
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rows = found.flatMap(({ kind, transports, of }) =>
    transports.map((name) => {
      const figures = of[name]!;
      const { p50, p99, max } = figures.actedMs;
      const ms = [p50, p99, max].map(({ value }) => value.toFixed(value < 10 ? 2 : 1));
      return [kind.replace('profile:', ''), name, ...ms, ...figureCells(figures)];
    }),
  );
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}
