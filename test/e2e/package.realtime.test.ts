import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { temporaryFolder } from '../temporary-folder.ts';
import { root } from './farhand.ts';

const run = promisify(execFile);

describe('the npm package', () => {
  it('installs under a separate prefix, outside the repository, and runs', async () => {
    const folder = temporaryFolder();
    await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: root });
    const [archive] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
    const prefix = path.join(folder, 'prefix');
    const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--omit=optional'];
    const args = ['install', '-g', '--prefix', prefix, ...quiet, path.join(folder, archive!)];
    const installed = await run('npm', args, { cwd: folder }).catch((error: { stderr: string }) => error);
    if ('code' in installed) assert.fail(`npm install -g failed: ${installed.stderr}`);
    const farhand = path.join(prefix, 'bin', 'farhand');
    const outputOf = async (...words: string[]) =>
      (await run(farhand, words, { cwd: folder, env: { ...process.env, FARHAND_STATE: folder } })).stdout;
    assert.match(await outputOf('--version'), /^\d+\.\d+\.\d+/);
    assert.match(await outputOf('config', 'rigs'), /demo/);
    const demo = await outputOf('demo', '--headless', '--duration', '2', `trace.dir=${folder}/traces`);
    assert.match(demo, /one-way/);
    const inside = path.join(prefix, 'lib', 'node_modules', 'farhand');
    for (const part of [
      'robots',
      'rigs',
      'dist/web/index.html',
      'dist/types/library/index.d.ts',
      'dist/types/testing/index.d.ts',
      'protocol',
    ])
      assert.ok(existsSync(path.join(inside, part)), part);
    assert.ok(!existsSync(path.join(inside, 'dist', 'test')), 'tests are not in the package');
    const { stdout } = await run(farhand, ['service', 'install', 'robot', '--dry-run', '--user', 'nobody'], {
      cwd: folder,
    });
    assert.match(stdout, /ExecStart=.*bin\/farhand robot --rig demo/);
  });
});
