// Runs test/uml/socketcan.ts inside user-mode Linux, whose kernel has CAN and vcan. Opt-in: it fetches two Debian
// packages (42 MB) with apt into artifacts/uml, installs nothing and needs no privilege. x64 Linux with apt and dpkg.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const folder = path.join(root, 'artifacts', 'uml');
const test = path.join(root, 'dist', 'test', 'uml', 'socketcan.js');

function run(command, args, options = {}) {
  const result = spawnSync(command, args, { stdio: 'inherit', ...options });
  if (result.status !== 0) {
    console.error(`"${command} ${args.join(' ')}" failed`);
    process.exit(1);
  }
}

run(process.execPath, [path.join(root, 'scripts', 'ensure.mjs'), '--quiet']);
const kernel = path.join(folder, 'usr', 'bin', 'linux.uml');
if (!existsSync(kernel)) {
  mkdirSync(folder, { recursive: true });
  run('apt-get', ['download', 'user-mode-linux', 'kmod'], { cwd: folder });
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.deb')))
    run('dpkg-deb', ['-x', name, '.'], { cwd: folder });
}
// kmod acts by the name it is called with.
const insmodPath = path.join(folder, 'bin', 'insmod');
if (!existsSync(insmodPath)) symlinkSync('kmod', insmodPath);
const modules = path.join(folder, 'usr', 'lib', 'uml', 'modules');
const drivers = path.join(modules, readdirSync(modules)[0], 'kernel');
const insmod = ['net/can/can', 'net/can/can-raw', 'drivers/net/can/dev/can-dev', 'drivers/net/can/vcan']
  .map((name) => `${insmodPath} ${path.join(drivers, `${name}.ko`)}`)
  .join('\n');
const init = path.join(folder, 'init.sh');
writeFileSync(
  init,
  `#!/bin/sh
export PATH=${process.env.PATH} HOME=/run
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmpfs /run
${insmod}
ip link set lo up
ip link add vcan0 type vcan
ip link set vcan0 mtu 72 up
cd ${root}
${process.execPath} --enable-source-maps --test --test-reporter=spec ${test} && echo "UML: passed"
echo o > /proc/sysrq-trigger
sleep 5
`,
);
chmodSync(init, 0o755);
const booted = spawnSync(
  kernel,
  [
    'mem=768M',
    'rootfstype=hostfs',
    'rootflags=/',
    'ro',
    `init=${init}`,
    'con=null',
    'con0=fd:0,fd:1',
    'quiet',
  ],
  { stdio: ['ignore', 'pipe', 'inherit'], timeout: 180_000, encoding: 'utf8' },
);
console.log(booted.stdout);
process.exit(booted.stdout.includes('UML: passed') ? 0 : 1);
