import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { root } from './farhand.ts';

const run = promisify(execFile);
/** All commands but those of the set-up, in order. */
const steps = [...readFileSync('docs/tutorial.md', 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(
  (match) => match[1]!,
);

describe('the tutorial', { timeout: 240_000 }, () => {
  it('works as it is typed, in an empty folder', { skip: needs('ffmpeg') }, async () => {
    const folder = temporaryFolder('tutorial');
    symlinkSync(path.join(root, 'bin', 'farhand'), path.join(folder, 'farhand'));
    const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` };
    assert.ok(steps.length >= 5, `${steps.length} steps`);
    for (const commands of steps) {
      const done = await run('bash', ['-ec', commands], { cwd: folder, env }).catch(
        (error: { stdout: string; stderr: string }) => error,
      );
      assert.ok(!('code' in done), `${commands}\n${done.stdout}\n${done.stderr}`);
    }
  });
});
