// Installs and builds what is missing or older than its sources; a second run does nothing.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const force = process.argv.includes('--force');
const quiet = process.argv.includes('--quiet');
const log = (text) => quiet || console.error(`farhand: ${text}`);

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `farhand needs Node 20.19 or newer; this is ${process.version}. Install a current Node and run again.`,
  );
  process.exit(2);
}

function run(label, command, args) {
  log(label);
  const startedMs = performance.now();
  const result = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (result.status !== 0) {
    console.error(
      `farhand: "${command} ${args.join(' ')}" failed (${result.status ?? result.signal ?? result.error?.message}).`,
    );
    process.exit(1);
  }
  log(`${label}: done in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
}

function fingerprint(...names) {
  const hash = createHash('sha256');
  const visit = (file) => {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat) return;
    if (stat.isDirectory()) for (const name of readdirSync(file).sort()) visit(path.join(file, name));
    else hash.update(`${path.relative(root, file)} ${stat.size} ${stat.mtimeMs}\n`);
  };
  for (const name of names) visit(path.join(root, name));
  return hash.digest('hex');
}

function once(stampFile, value, work) {
  const file = path.join(root, stampFile);
  if (!force && existsSync(file) && readFileSync(file, 'utf8') === value) return;
  work();
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, value);
}

const inCheckout = existsSync(path.join(root, 'tsconfig.json'));
if (inCheckout) {
  const lock = createHash('sha256')
    .update(readFileSync(path.join(root, 'package-lock.json')))
    .digest('hex');
  const installed = path.join(root, 'node_modules', '.farhand-lock');
  if (!existsSync(installed) || readFileSync(installed, 'utf8') !== lock) {
    // Not `npm ci`: it rejects a lock file that lacks other platforms' optional binaries.
    run('installing packages', 'npm', [
      'install',
      '--no-save',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ]);
    writeFileSync(installed, lock);
  }
  const node = (script, ...args) => [process.execPath, [path.join('node_modules', script), ...args]];
  once(
    'dist/.stamp-code',
    fingerprint('src', 'test', 'bench', 'sim', 'tsconfig.json', 'package-lock.json'),
    () => {
      for (const name of ['src', 'test', 'bench', 'sim'])
        rmSync(path.join(root, 'dist', name), { recursive: true, force: true });
      rmSync(path.join(root, 'dist', '.tsbuildinfo'), { force: true });
      run('building', ...node('typescript/bin/tsc', '-p', 'tsconfig.json'));
    },
  );
  once('dist/.stamp-run', fingerprint('src', 'sim', 'scripts/bundle.mjs', 'package-lock.json'), () =>
    run('joining modules', process.execPath, [path.join('scripts', 'bundle.mjs')]),
  );
  if (existsSync(path.join(root, 'web', 'index.html')))
    once(
      'dist/.stamp-web',
      fingerprint(
        'web',
        'src/core',
        'src/messages',
        'src/geometry',
        'src/hand',
        'src/mapping',
        'src/wire/codecs',
        'src/input/codecs',
        'sim/bento/bento-view.ts',
        'package-lock.json',
      ),
      () =>
        run('building the console page', ...node('vite/bin/vite.js', 'build', 'web', '--logLevel', 'warn')),
    );
}
