// Runs compiled tests, each file in its own process, small ones of a full run several in one. Without arguments: the first tier (*.test.js) and the
// smoke test. --realtime: the second tier (the other *.realtime.test.js). --properties: first-tier tests that use
// random input. --all: both tiers, and those once more with a random seed. WORD...: the files of both tiers
// whose path contains one of the words, or a file by its path. --jobs=N: number of files at a time.
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runAdmitted } from './testing/admission.mjs';
import { MARKER } from './testing/processes.mjs';
import { failures, printFile, printSummary } from './testing/report.mjs';
import { runFiles } from './testing/run-files.mjs';
import { SLOWER } from './testing/slower.mjs';

const FIXED_SEED = 20_240_229;
const SMOKE = path.join('dist', 'test', 'smoke.realtime.test.js');
/** More at a time starve simulated buses and browsers: on two cores three files failed now and then, two never. */
const REALTIME_FILES_PER_CORE = 1;
/** Above this use by other programs the machine counts as busy. */
const BUSY = 0.7;
const FILE_LIMIT_MS = 600_000 * SLOWER;
/** Files without deadlines let those with them go first; files in the background let all others. */
const [NICE_PATIENT, NICE_BEHIND] = [5, 15];
/** Files of small tests that share a process: starting one costs as much as most of them. */
const FILES_TOGETHER = 12;
/** How long each file took last time: the longest start first. Before it has run, its size is the best guess. */
const TIMES = path.join('dist', '.test-times.json');
/** Except of these, which are short and take long. */
const LONG =
  /driver-(contract|pages)|[\\/](tour|motors|headset-hand|measure-hand|phone|lease|demo|two-arms|openteach|dataset-check|interop-vendors|fleet-(announce|cut-off|many|net))\.realtime/;

process.chdir(path.resolve(import.meta.dirname, '..'));
const args = process.argv.slice(2);
const words = args.filter((arg) => !arg.startsWith('--'));
const unknown = args.find(
  (arg) => arg.startsWith('--') && !/^--(realtime|properties|all|jobs=[1-9]\d*)$/.test(arg),
);
if (unknown !== undefined) {
  console.error(`Unknown option "${unknown}"; use --realtime, --properties, --all or --jobs=N.`);
  process.exit(2);
}
const flag = (name) => args.includes(`--${name}`);
const jobs = Number(args.find((arg) => arg.startsWith('--jobs='))?.slice(7) ?? 0);

const times = readJson(TIMES);
const files = readdirSync('dist', { recursive: true })
  .filter((name) => /^(src|test|bench|sim)[\\/].*\.test\.js$/.test(name))
  .map((name) => path.join('dist', name))
  .map((file) => ({ file, weight: times[file] ?? (LONG.test(file) ? 1e6 : statSync(file).size) }))
  .sort((a, b) => b.weight - a.weight || (a.file < b.file ? -1 : 1))
  .map(({ file }) => file);
const isRealtime = (file) => file.endsWith('.realtime.test.js');
/** Tests with random input. */
const isProperty = (file) => /'fast-check'|input-contract\.js'|\/seed\.js'/.test(readFileSync(file, 'utf8'));
/** Unit tests that do not measure the process they run in. */
const isSmall = (file) =>
  words.length === 0 &&
  !isRealtime(file) &&
  file.startsWith(path.join('dist', 'src')) &&
  !/setFlagsFromString|memoryUsage/.test(readFileSync(file, 'utf8'));
/** Devices on a bus reply within milliseconds or count as gone: in the second tier their tests go before others. */
const hasDeadlines = (file) =>
  /[\\/]test[\\/](contract|damiao|piper|robot)[\\/]|-sdk|orca|openteach|rctp|arms|driver-|makers-/.test(file);
/** They use two fifths of a core or less: timeouts, restarts and lost connections are what they are about. */
const MOSTLY_WAITS =
  /driver-(pages|ur)|orca-(driver|calibrate)|fleet-(accounts|announce|cluster|cut-off|hostile|lease|media|net|page|turn)\.|e2e[\\/](fleet|library|link)\.|hand-cli|runner|second-signal|piper-driver|slow-disk|connection-limits|discover\.|camera[\\/]channel\.|leader-force|hostile-peers|ask-outcome/;
const hasBrowser = (file) => readFileSync(file, 'utf8').includes('/chromium.js');
/** No robot, device or browser in it has to keep a time: it may wait for the others. */
const isUnhurried = (file) =>
  isRealtime(file) &&
  !hasDeadlines(file) &&
  !/'(robot|demo|operator|sim|leader|camera|check)'|chromium\.js|(fault|driver|fleet)-rig|joinLocally/.test(
    readFileSync(file, 'utf8'),
  );

/** The share of all cores that other programs use: 0 to 1, over half a second. */
async function loadOfOthers() {
  const totals = () =>
    cpus().reduce(
      ([busy, all], { times }) => {
        const sum = Object.values(times).reduce((a, b) => a + b, 0);
        return [busy + sum - times.idle, all + sum];
      },
      [0, 0],
    );
  const before = totals();
  await new Promise((resolve) => setTimeout(resolve, 500));
  const after = totals();
  return (after[0] - before[0]) / Math.max(1, after[1] - before[1]);
}

/** Then no file gives way to others: it would give way to those programs too, and starve. */
const isBusy = (await loadOfOthers()) > BUSY;

/** Groups of files that run one after another: [files, how many at a time, seed]. */
function plan() {
  const cores = availableParallelism();
  const together = jobs || cores;
  // Where other programs fill the cores, run one file at a time.
  const waiting = jobs || (isBusy ? 1 : Math.ceil(cores * REALTIME_FILES_PER_CORE));
  const seed = seedFrom(process.env.FARHAND_SEED);
  const named = words.filter((word) => /\.m?js$/.test(word) && existsSync(word));
  const matching = files.filter((file) => words.length === 0 || words.some((word) => file.includes(word)));
  const chosen = [...new Set([...named, ...matching])];
  const first = chosen.filter((file) => !isRealtime(file));
  const second = chosen.filter(isRealtime);
  if (words.length > 0)
    return [
      [first, together, seed],
      [second, waiting, seed],
    ];
  const smoked = [[...first, ...second.filter((file) => file === SMOKE)], together, seed];
  const others = [second.filter((file) => file !== SMOKE), waiting, seed];
  const properties = first.filter(isProperty);
  if (flag('properties')) return [[properties, together, seed]];
  if (flag('all')) return [smoked, [properties, together, seedFrom('random')], others];
  return [flag('realtime') ? others : smoked];
}

function seedFrom(text) {
  const seed = text === 'random' ? randomInt(2 ** 31) : Number(text ?? FIXED_SEED);
  if (Number.isInteger(seed)) return seed;
  console.error(`FARHAND_SEED is "${text}"; use a whole number, or "random".`);
  process.exit(2);
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}

/** Everything this run starts carries the marker and uses the folder; the watchdog cleans up after us. */
function openRun() {
  const folder = mkdtempSync(path.join(tmpdir(), 'farhand-run-'));
  const marker = `${process.env[MARKER] ?? ''}${path.basename(folder)}/`;
  const watchdog = fileURLToPath(new URL('./testing/watchdog.mjs', import.meta.url));
  const child = spawn(process.execPath, [watchdog, marker, folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.unref();
  return { folder, marker, close: () => child.stdin.end() };
}

/** The files of each process: large ones alone and first. */
function inProcesses(group) {
  const small = group.filter(isSmall).sort();
  const processes = group.filter((file) => !small.includes(file)).map((file) => [file]);
  for (let i = 0; i < small.length; i += FILES_TOGETHER) processes.push(small.slice(i, i + FILES_TOGETHER));
  return processes;
}

async function runGroups(groups, run) {
  const total = groups.reduce((sum, [group]) => sum + group.length, 0);
  const results = [];
  let started = 0;
  for (const [group, concurrency, seed] of groups) {
    if (group.length === 0) continue;
    console.log(`${group.length} files, ${concurrency} at a time, seed ${seed}`);
    const [drawing, others] = [group.filter(hasBrowser), group.filter((file) => !hasBrowser(file))];
    const queue = [...drawing.map((file) => [file]), ...inProcesses(others)];
    const waiting = queue.map((files) => ({
      files,
      hasBrowser: files.some(hasBrowser),
      isBackground: !isBusy && jobs === 0 && files.every(isUnhurried),
      isLight: !isBusy && jobs === 0 && files.every((file) => isRealtime(file) && MOSTLY_WAITS.test(file)),
    }));
    await runAdmitted(waiting, concurrency, async ({ files, isBackground }) => {
      const name = String(started++);
      const folder = path.join(run.folder, name);
      const marker = `${run.marker}${name}/`;
      const isPatient =
        !isBusy && files.every((file) => isRealtime(file) && file !== SMOKE && !hasDeadlines(file));
      const nice = isBackground ? NICE_BEHIND : isPatient ? NICE_PATIENT : 0;
      const found = await runFiles({ files, seed, folder, marker, limitMs: FILE_LIMIT_MS, nice });
      for (const result of found) {
        results.push(result);
        printFile(result, results.length, total);
      }
    });
  }
  return results;
}

const groups = plan();
if (groups.every(([group]) => group.length === 0)) {
  console.error(`No compiled test matches ${words.join(', ')}; build with "node scripts/ensure.mjs" first.`);
  process.exit(2);
}
const startedMs = performance.now();
const run = openRun();
const results = await runGroups(groups, run);
run.close();
writeFileSync(
  TIMES,
  JSON.stringify({ ...times, ...Object.fromEntries(results.map(({ file, ms }) => [file, Math.round(ms)])) }),
);
printSummary(results, performance.now() - startedMs);
process.exit(results.some((result) => failures(result) > 0) ? 1 : 0);
