// Declarations of the public interface (farhand, farhand/testing) in dist/types, and its report in docs/api-report.txt: every
// change of the interface is visible in a diff. --write: update the report; --check: only fail if it is out of date.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const onlyChecks = process.argv.includes('--check');
const FOLDER = onlyChecks ? mkdtempSync(path.join(tmpdir(), 'farhand-types-')) : path.join('dist', 'types');
if (onlyChecks) process.on('exit', () => rmSync(FOLDER, { recursive: true, force: true }));
const ENTRIES = ['library/index.d.ts', 'testing/index.d.ts'];
const REPORT = path.join('docs', 'api-report.txt');

rmSync(FOLDER, { recursive: true, force: true });
const built = spawnSync(
  process.execPath,
  [
    path.join('node_modules', 'typescript', 'bin', 'tsc'),
    ...['-p', 'tsconfig.types.json', '--outDir', FOLDER],
    ...['--tsBuildInfoFile', path.join(FOLDER, '.tsbuildinfo')],
  ],
  { stdio: 'inherit' },
);
if (built.status !== 0) process.exit(1);

/** The files that the entries refer to, with their text. */
const reached = new Map();
function visit(file) {
  if (reached.has(file)) return;
  const text = readFileSync(path.join(FOLDER, file), 'utf8');
  reached.set(file, text);
  for (const [, target] of text.matchAll(/(?:from |import\()['"](\.[^'"]+)['"]/g))
    visit(path.posix.normalize(path.posix.join(path.posix.dirname(file), target.replace(/\.ts$/, '.d.ts'))));
}
for (const entry of ENTRIES) visit(entry);
for (const file of readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }))
  if (/\.d\.ts$|tsbuildinfo$/.test(file) && !reached.has(file.replaceAll('\\', '/')))
    rmSync(path.join(FOLDER, file));

const bare = (text) =>
  text
    .replace(/\/\*\*[\s\S]*?\*\//g, '')
    .replace(/^\s*\n/gm, '')
    .trimEnd();
/** Packages whose types come with Farhand: a program with strict settings has no others. */
const TYPED = ['zod'];
for (const [file, text] of reached)
  for (const [, name] of bare(text).matchAll(/(?:from |import\()['"]([^.'"][^'"]*)['"]/g))
    if (!TYPED.includes(name)) {
      console.error(`${file} needs the types of "${name}", which users of the library do not have.`);
      process.exit(1);
    }
const report = `${[...reached.keys()]
  .sort()
  .map((file) => `// ${file}\n${bare(reached.get(file))}\n`)
  .join('\n')}`;
if (process.argv.includes('--write')) writeFileSync(REPORT, report);
else if (onlyChecks && readFileSync(REPORT, 'utf8') !== report) {
  console.error(
    `${REPORT} is out of date: the public interface changed. Run node scripts/build-types.mjs --write.`,
  );
  process.exit(1);
}
