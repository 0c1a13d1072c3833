// Runs every compiled *.test.js, or those whose path contains one of the arguments.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
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
// Suites in real time (sockets, buses, processes) come after the rest, two at a time; those that judge milliseconds or
// drive a browser run alone.
const inTest = (name) => name.startsWith(path.join('dist', 'test'));
const REAL_TIME = /[\\/](e2e|interop|piper|robot|ros2|drivers|uml)[\\/]|contract[\\/]driver/;
const STRICT = /e2e[\\/](live-playout|link|demo|console|faults|lease|bento-page|arms)/;
const realTime = files.filter((name) => inTest(name) && REAL_TIME.test(name));
const strict = realTime.filter((name) => STRICT.test(name));
const together = files.filter((name) => !realTime.includes(name));
const relaxed = realTime.filter((name) => !strict.includes(name));
const flags = ['--enable-source-maps', '--test', '--test-reporter=spec'];
// What playout learns in a test is not for the user's own robots.
const state = mkdtempSync(path.join(tmpdir(), 'farhand-test-'));
let failed = false;
for (const [group, concurrency] of [
  [together, 2],
  [relaxed, 2],
  [strict, 1],
]) {
  if (group.length === 0) continue;
  const result = spawnSync(process.execPath, [...flags, `--test-concurrency=${concurrency}`, ...group], {
    stdio: 'inherit',
    env: { ...process.env, FARHAND_STATE: state },
  });
  failed ||= result.status !== 0;
}
rmSync(state, { recursive: true, force: true });
process.exit(failed ? 1 : 0);
