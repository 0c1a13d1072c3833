// Runs the tests with another version of Node, taken from the npm package "node": node scripts/other-node.mjs 24 [words]
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';

const [version = '', ...words] = process.argv.slice(2);
if (!/^\d+(\.\d+)*$/.test(version)) {
  console.error('Which version? For example: node scripts/other-node.mjs 22');
  process.exit(2);
}
const folder = path.resolve('dist', `node-${version}`);
const node = path.join(folder, 'node_modules', 'node', 'bin', 'node');
if (!existsSync(node)) {
  mkdirSync(folder, { recursive: true });
  spawnSync('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', `node@${version}`], {
    stdio: ['ignore', 2, 2],
    cwd: folder,
  });
}
const { status } = spawnSync(node, ['scripts/test.mjs', ...words], {
  stdio: 'inherit',
  env: { ...process.env, PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}` },
});
process.exit(status ?? 1);
