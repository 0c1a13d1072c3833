// Runs a suite repeatedly, on the machine as it is (quiet) and next to a busy loop on every core (loaded),
// and prints a table of failures: node scripts/repeat-suite.mjs test|test:realtime [--quiet=20] [--loaded=5]
// [-- WORD...]. The words select files, as for scripts/test.mjs. Every run is logged in
// artifacts/repeat-*.jsonl; a second call continues where the first was stopped, --fresh starts over.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';

const SUITES = { test: [], 'test:realtime': ['--realtime'] };
const BUSY =
  'process.stdin.on("close", () => process.exit()).resume(); setInterval(() => { const t = Date.now(); while (Date.now() - t < 100); }, 0)';

const given = process.argv.slice(2);
const end = given.indexOf('--');
const args = end < 0 ? given : given.slice(0, end);
const words = end < 0 ? [] : given.slice(end + 1);
const suite = args.find((arg) => !arg.startsWith('--'));
if (SUITES[suite] === undefined) {
  console.error(
    'Usage: node scripts/repeat-suite.mjs test|test:realtime [--quiet=N] [--loaded=N] [--fresh] [-- WORD...]',
  );
  process.exit(2);
}
const number = (name, otherwise) =>
  Number(args.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1] ?? otherwise);
const wanted = { quiet: number('quiet', 20), loaded: number('loaded', 5) };

process.chdir(path.resolve(import.meta.dirname, '..'));
const log = path.join(
  'artifacts',
  `${['repeat', suite, ...words].join('-').replaceAll(/[^\w-]/g, '-')}.jsonl`,
);
mkdirSync('artifacts', { recursive: true });
if (args.includes('--fresh')) rmSync(log, { force: true });

/** They read a pipe of this process and exit with it, however it ends. */
function startLoad() {
  const loops = Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ['-e', BUSY], { stdio: ['pipe', 'ignore', 'inherit'] }),
  );
  return async () => {
    const ends = loops.map((loop) => once(loop, 'exit'));
    for (const loop of loops) loop.stdin.end();
    await Promise.all(ends);
  };
}

async function runOnce(load) {
  const stopLoad = load === 'loaded' ? startLoad() : async () => {};
  const startedMs = performance.now();
  try {
    const child = spawn(process.execPath, ['scripts/test.mjs', ...SUITES[suite], ...words], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
    const [code] = await once(child, 'close');
    const result = { load, code, s: Math.round((performance.now() - startedMs) / 1000), ...outcome(output) };
    if (code !== 0) console.log(output);
    return result;
  } finally {
    await stopLoad();
  }
}

/** The failures that a run's summary names, and its last line. */
function outcome(output) {
  const failed = /\nFailed:\n((?: {2}.*\n)+)/.exec(output)?.[1].trim().split('\n') ?? [];
  return { failed: failed.map((line) => line.trim()), last: output.trimEnd().split('\n').at(-1) };
}

const runs = () =>
  existsSync(log)
    ? readFileSync(log, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    : [];

function table(all) {
  const rows = Object.keys(wanted).flatMap((load) => {
    const own = all.filter((run) => run.load === load);
    if (own.length === 0) return [];
    const times = own.map(({ s }) => s).sort((a, b) => a - b);
    const failed = own.filter(({ code }) => code !== 0);
    const names = new Map();
    for (const name of failed.flatMap((run) => run.failed)) names.set(name, (names.get(name) ?? 0) + 1);
    const text = [...names].map(([name, count]) => `${name} (${count})`).join('; ') || 'none';
    const median = times[(times.length - 1) >> 1];
    return [`| ${load} | ${own.length} | ${failed.length} | ${median} s | ${times.at(-1)} s | ${text} |`];
  });
  return [
    '| machine | runs | failed | time p50 | max | failing tests |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

for (const load of Object.keys(wanted))
  for (let done = runs().filter((run) => run.load === load).length; done < wanted[load]; done++) {
    const run = await runOnce(load);
    appendFileSync(log, `${JSON.stringify(run)}\n`);
    console.log(`${load} ${done + 1} of ${wanted[load]}: ${run.last} in ${run.s} s`);
  }
console.log(
  `\n\`npm run ${suite}\`, ${availableParallelism()} cores, Node ${process.versions.node}:\n\n${table(runs())}`,
);
process.exit(runs().some(({ code }) => code !== 0) ? 1 : 0);
