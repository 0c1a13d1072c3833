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
// Timing-sensitive suites (real sockets, buses, processes, browser) run alone, after the rest.
const REAL_TIME = /[\\/](e2e|piper|robot|ros2|drivers|uml)[\\/]|contract[\\/]driver/;
const alone = files.filter((name) => name.startsWith(path.join('dist', 'test')) && REAL_TIME.test(name));
const together = files.filter((name) => !alone.includes(name));
const flags = ['--enable-source-maps', '--test', '--test-reporter=spec'];
// What playout learns in a test is not for the user's own robots.
const state = mkdtempSync(path.join(tmpdir(), 'farhand-test-'));
let failed = false;
for (const [group, concurrency] of [
  [together, 2],
  [alone, 1],
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
