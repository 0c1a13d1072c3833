// Size and dependencies of the package as npm installs it: node scripts/package-list.mjs. --write: into docs/install.md. Build first.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

process.chdir(path.resolve(import.meta.dirname, '..'));
const PAGE = path.join('docs', 'install.md');
const [BEGIN, END] = [
  '<!-- package list: node scripts/package-list.mjs --write -->\n',
  '<!-- end of package list -->',
];
const { name, dependencies, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const npm = (cwd, ...args) =>
  execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
const bytesIn = (file) => {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return stat?.size ?? 0;
  return readdirSync(file).reduce((sum, each) => sum + bytesIn(path.join(file, each)), 0);
};
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
const packagesIn = (folder) => npm(folder, 'ls', '--all', '--parseable').trim().split('\n').length - 2;

const folder = mkdtempSync(path.join(tmpdir(), 'farhand-package-'));
try {
  const [packed] = JSON.parse(npm('.', 'pack', '--ignore-scripts', '--json', '--pack-destination', folder));
  const install = (where, ...more) => {
    const prefix = path.join(folder, where);
    npm(
      '.',
      'install',
      '--prefix',
      prefix,
      '--ignore-scripts',
      '--no-audit',
      ...more,
      path.join(folder, packed.filename),
    );
    return path.join(prefix, 'node_modules');
  };
  const small = install('small', '--omit=optional');
  const whole = install('whole');
  const row = (kind) => (each) => {
    const bytes = bytesIn(path.join(whole, each));
    return {
      bytes,
      text: `| \`${each}\` | ${kind} | ${bytes === 0 ? 'not for this platform' : megabytes(bytes)} |`,
    };
  };
  const rows = [
    ...Object.keys(dependencies).map(row('always')),
    ...Object.keys(optionalDependencies).map(row('optional')),
  ].sort((a, b) => b.bytes - a.bytes);
  const text = `The package is ${megabytes(packed.size)} to download and ${megabytes(packed.unpackedSize)} unpacked (${packed.entryCount} files). With what it
always needs, ${packagesIn(path.dirname(small))} packages, ${megabytes(bytesIn(small))}; with everything optional on ${process.platform} ${process.arch}, ${packagesIn(path.dirname(whole))} packages, ${megabytes(bytesIn(whole))}.

| package | installed | own size |
|---|---|---|
| \`${name}\` | always | ${megabytes(bytesIn(path.join(whole, name)))} |
${rows.map((each) => each.text).join('\n')}
`;
  if (process.argv.includes('--write')) {
    const page = readFileSync(PAGE, 'utf8');
    const [from, to] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)];
    writeFileSync(PAGE, page.slice(0, from) + text + page.slice(to));
  } else console.log(text);
} finally {
  rmSync(folder, { recursive: true });
}
