// Format, lint, types, imports, tests: the same here and in CI. --fast skips the tests.
import { spawnSync } from 'node:child_process';

const bin = (script, ...args) => ['node', [`node_modules/${script}`, ...args]];
const steps = [
  ['format and lint', ...bin('@biomejs/biome/bin/biome', 'ci', '--colors=off', '.')],
  ['types', ...bin('typescript/bin/tsc', '-p', 'tsconfig.json', '--noEmit', '--incremental', 'false')],
  ['types of the page', ...bin('typescript/bin/tsc', '-p', 'web/tsconfig.json', '--noEmit')],
  ['imports', 'node', ['scripts/check-boundaries.mjs']],
  ['public interface', 'node', ['scripts/build-types.mjs', '--check']],
];
if (!process.argv.includes('--fast')) steps.push(['tests', 'node', ['scripts/test.mjs']]);

let failed = 0;
for (const [label, command, args] of steps) {
  console.log(`— ${label}`);
  if (spawnSync(command, args, { stdio: 'inherit' }).status !== 0) {
    console.error(`✗ ${label} failed`);
    failed++;
  }
}
process.exit(failed === 0 ? 0 : 1);
