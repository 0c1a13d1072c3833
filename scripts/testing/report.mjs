// The output of a test run: a line per file with its time and the CPU time of its processes, failures in full, and
// at the end what was slow and what was skipped.
const SLOWEST = 8;

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`.padStart(8);
const cpu = (ms) => `${(ms / 1000).toFixed(1)} s CPU`.padStart(12);
const nameOf = (file) => file.replace(/^dist[\\/]/, '').replace(/\.test\.js$/, '');
const count = (tests, kind) => tests.filter((test) => test.kind === kind).length;
const indent = (text) => text.trimEnd().replaceAll(/^/gm, '    ');

export const failures = ({ tests, problems }) => count(tests, 'fail') + (problems.length > 0 ? 1 : 0);

export function printFile(result, done, total) {
  const { tests, ms, cpuMs, file } = result;
  const failed = failures(result);
  const skipped = count(tests, 'skip');
  const outcome =
    `${count(tests, 'pass')} passed` +
    (failed > 0 ? `, ${failed} FAILED` : '') +
    (skipped > 0 ? `, ${skipped} skipped` : '');
  console.log(
    `${String(done).padStart(4)}/${total} ${seconds(ms)} ${cpu(cpuMs)}  ${nameOf(file)}: ${outcome}`,
  );
  if (failed > 0) printFailure(result);
}

function printFailure({ file, seed, tests, problems, output }) {
  for (const { kind, name, ms, error } of tests)
    if (kind === 'fail')
      console.log(`\n  FAILED ${nameOf(file)} › ${name} (${seconds(ms).trim()})\n${indent(error)}`);
  for (const problem of problems) console.log(`\n  FAILED ${nameOf(file)}: ${problem}`);
  if (output.trim() !== '') console.log(`\n  Output of ${nameOf(file)}:\n${indent(output)}`);
  console.log(`\n  Again: FARHAND_SEED=${seed} node scripts/test.mjs ${nameOf(file)}\n`);
}

/** The last line stands alone: other programs parse it. */
export function printSummary(results, wallMs) {
  const tests = results.flatMap((result) => result.tests);
  const slowest = results.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST);
  console.log('\nSlowest files:');
  for (const { file, ms, cpuMs } of slowest) console.log(`${seconds(ms)} ${cpu(cpuMs)}  ${nameOf(file)}`);
  printSkipped(tests.filter(({ kind }) => kind === 'skip'));
  const failing = results.filter((result) => failures(result) > 0);
  if (failing.length > 0) console.log('\nFailed:');
  for (const result of failing) {
    for (const { kind, name } of result.tests)
      if (kind === 'fail') console.log(`  ${nameOf(result.file)} › ${name}`);
    for (const problem of result.problems) console.log(`  ${nameOf(result.file)}: ${problem.split('\n')[0]}`);
  }
  const failed = results.reduce((sum, result) => sum + failures(result), 0);
  const cpuMs = results.reduce((sum, result) => sum + result.cpuMs, 0);
  console.log(`\n${results.length} files in ${seconds(wallMs).trim()}, ${cpu(cpuMs).trim()}`);
  console.log(`${count(tests, 'pass')} passed, ${failed} failed, ${count(tests, 'skip')} skipped`);
}

function printSkipped(skipped) {
  if (skipped.length === 0) return;
  const counts = new Map();
  for (const { why } of skipped) counts.set(why, (counts.get(why) ?? 0) + 1);
  console.log('\nNot run:');
  for (const [why, times] of counts) console.log(`${String(times).padStart(6)}  ${why}`);
}
