// Runs every compiled *.test.js, or those whose path contains one of the arguments.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const wanted = process.argv.slice(2).filter((arg) => !arg.startsWith('--'));
const files = readdirSync('dist', { recursive: true })
  .filter((name) => /^(src|test|bench|sim)[\\/].*\.test\.js$/.test(name))
  .map((name) => path.join('dist', name))
  .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
  .sort();
if (files.length === 0) {
  console.error(`No test file matches ${wanted.join(', ')}.`);
  process.exit(2);
}
// Suites in real time (sockets, buses, processes) come after the rest, three at a time: they mostly wait. Those that
// judge milliseconds or drive a browser run alone.
const STRICT = /e2e[\\/](live-playout|link|demo|console|faults|bento-page)/;
const realTime = files.filter((name) => name.endsWith('.realtime.test.js'));
const strict = realTime.filter((name) => STRICT.test(name));
const together = files.filter((name) => !realTime.includes(name));
const relaxed = realTime.filter((name) => !strict.includes(name));
// What playout learns in a test is not for the user's own robots.
const state = mkdtempSync(path.join(tmpdir(), 'farhand-test-'));
const failures = path.join(state, 'failed');

/** Runs a group; the files in which something failed. */
function run(group, concurrency) {
  if (group.length === 0) return [];
  const reporters = [
    ['spec', 'stdout'],
    [path.join(import.meta.dirname, 'failed-files.mjs'), failures],
  ].flatMap(([name, to]) => [`--test-reporter=${name}`, `--test-reporter-destination=${to}`]);
  const flags = [
    '--enable-source-maps',
    '--test',
    '--test-timeout=400000',
    `--test-concurrency=${concurrency}`,
    ...reporters,
  ];
  const { status } = spawnSync(process.execPath, [...flags, ...group], {
    stdio: 'inherit',
    env: { ...process.env, FARHAND_STATE: state },
  });
  if (status === 0) return [];
  const named = readFileSync(failures, 'utf8').split('\n').filter(Boolean).map(compiled);
  const failed = group.filter((name) => named.includes(path.resolve(name)));
  return failed.length > 0 ? failed : group;
}

/** With source maps a failure may be told at its source. */
const compiled = (file) =>
  file.endsWith('.ts')
    ? path.resolve('dist', path.relative('.', file)).replace(/\.ts$/, '.js')
    : path.resolve(file);

let failed = run(together, 2);
// A shared machine may stall any test that lives in real time: what failed gets one more chance, alone and not in silence.
const stalled = [...run(relaxed, 3), ...run(strict, 1)];
if (stalled.length > 0) {
  console.log(`\nFAILED, run once more alone: ${stalled.join(', ')}\n`);
  const again = run(stalled, 1);
  const unstable = stalled.filter((name) => !again.includes(name));
  if (unstable.length > 0) console.log(`\nUNSTABLE, passed only at the second try: ${unstable.join(', ')}\n`);
  failed = [...failed, ...again];
}
rmSync(state, { recursive: true, force: true });
if (failed.length > 0) console.log(`\nFAILED: ${failed.join(', ')}`);
process.exit(failed.length > 0 ? 1 : 0);
