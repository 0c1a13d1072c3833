// Test files in a process group of their own, with their own folders; they fail if they leave a process running
// or a temporary file behind.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { killMarked, MARKER, remaining, signal } from './processes.mjs';

const own = (name) => fileURLToPath(new URL(name, import.meta.url));
/** A killed process takes a moment to end; longer on a busy machine. */
const GRACE_MS = 5000;
/** Left there by a browser and its audio server. */
const FOREIGN = /^(pulse-|\.org\.chromium|playwright)/;
const KEPT_CHARACTERS = 200_000;
/**
 * Most of what runs in a file of the second tier runs for a few seconds: V8 would spend as long on optimising it. Later
 * versions of Node do not have the option.
 */
const OPTIMISE_LATE = process.version.startsWith('v20.') ? ['--interrupt-budget=2000000'] : [];

/**
 * Returns one result per file. `folder`: for these files alone. `marker`: ends in "/", so that none is a prefix of
 * another. `nice`: above 0, others run before it where cores are few.
 */
export async function runFiles({ files, seed, folder, marker, limitMs, nice }) {
  const startedMs = performance.now();
  const [temporary, state] = ['tmp', 'state'].map((name) => path.join(folder, name));
  mkdirSync(temporary, { recursive: true });
  mkdirSync(state);
  const [eventsFile, cpuFile] = ['events', 'cpu'].map((name) => path.join(folder, name));
  const reporter = pathToFileURL(own('./events.mjs')).href;
  const child = spawn(
    process.execPath,
    [
      '--enable-source-maps',
      ...(files.every((file) => file.endsWith('.realtime.test.js')) ? OPTIMISE_LATE : []),
      `--test-reporter=${reporter}`,
      `--test-reporter-destination=${eventsFile}`,
      own('./test-process.mjs'),
      cpuFile,
      ...files,
    ],
    {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        TMPDIR: temporary,
        FARHAND_STATE: state,
        FARHAND_SEED: String(seed),
        // A robot or operator compiles its loops for two seconds before it starts; no test measures latency. With this set,
        // `farhand` also has V8 optimise late.
        FARHAND_WARM_UP_TICKS: process.env.FARHAND_WARM_UP_TICKS ?? '50',
        [MARKER]: marker,
      },
    },
  );
  if (nice > 0) lowerPriority(child.pid, nice);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output = (output + text).slice(-KEPT_CHARACTERS);
    });
  const closed = once(child, 'close');
  const { code, problems } = await ended(child, limitMs);
  const left = await remaining(marker, child.pid, GRACE_MS);
  await killMarked(marker, child.pid);
  await Promise.race([closed, sleep(1000)]);
  for (const { pid, command } of left) problems.push(`left process ${pid} running: ${command}`);
  const tests = readEvents(eventsFile, problems, code);
  if (code !== 0 && problems.length === 0 && !tests.some(({ kind }) => kind === 'fail'))
    problems.push(`ended with ${code}`);
  const leftFiles = readdirSync(temporary).filter((name) => !FOREIGN.test(name));
  if (leftFiles.length > 0)
    problems.push(`left in its temporary folder: ${leftFiles.slice(0, 10).join(', ')}`);
  const cpuMs = Number(textOf(cpuFile));
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  const ms = performance.now() - startedMs;
  return resultsOf(files, tests, problems).map((result) => ({
    ...result,
    seed,
    output,
    ms: ms / files.length,
    cpuMs: cpuMs / files.length,
  }));
}

/** Of the process and what it starts; Linux may schedule by session, which then has a priority of its own. */
function lowerPriority(pid, nice) {
  try {
    setPriority(pid, nice);
    writeFileSync(`/proc/${pid}/autogroup`, String(nice));
  } catch {
    // It has ended, or there are no such groups.
  }
}

/** What concerns the process is a problem of its first file, which then names the others. */
function resultsOf(files, tests, problems) {
  const beside = files.length > 1 ? ` (with ${files.slice(1).join(', ')} in one process)` : '';
  return files.map((file, i) => {
    const own = tests.filter((test) => test.file === file);
    const ofProcess = i === 0 ? problems.map((problem) => `${problem}${beside}`) : [];
    const empty = own.length === 0 && problems.length === 0 ? ['no test ran'] : [];
    return { file, tests: own, problems: [...ofProcess, ...empty] };
  });
}

async function ended(child, limitMs) {
  const problems = [];
  const timer = setTimeout(() => {
    problems.push(`still running after ${limitMs / 1000} s`);
    signal(-child.pid);
  }, limitMs);
  const [code, killedBy] = await once(child, 'exit');
  clearTimeout(timer);
  return { code: code ?? killedBy, problems };
}

/** Results of tests; notes, and what was running when the process was killed, become problems. */
function readEvents(file, problems, code) {
  const events = linesOf(file).map((line) => JSON.parse(line));
  const running = new Map();
  for (const { kind, name } of events) {
    if (kind === 'running') running.set(name, (running.get(name) ?? 0) + 1);
    if (kind === 'ended') running.set(name, running.get(name) - 1);
  }
  const unfinished = [...running].filter(([, count]) => count > 0).map(([name]) => name);
  if (unfinished.length > 0) problems.push(`not finished: ${unfinished.join('; ')}`);
  if (problems.length === 0 && !events.some(({ kind }) => kind === 'end'))
    problems.push(`ended with ${code} before its tests were over`);
  problems.push(...events.filter(({ kind }) => kind === 'note').map(({ text }) => text));
  return events.filter(({ kind }) => kind === 'pass' || kind === 'fail' || kind === 'skip');
}

/** The last line may be truncated: the process may have been killed. */
const linesOf = (file) => textOf(file).split('\n').slice(0, -1);

function textOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
