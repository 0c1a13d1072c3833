import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import type { TeleopError } from '../core/errors.ts';
import { readBounded } from './read-bounded.ts';
import { readYaml } from './yaml-files.ts';

describe('a file that a person named', () => {
  it('is read whole up to its limit, with its permissions', () => {
    const file = path.join(temporaryFolder(), 'file');
    for (const size of [0, 1, 65_536, 200_000]) {
      writeFileSync(file, Buffer.alloc(size, 7));
      chmodSync(file, 0o640);
      const { bytes, mode } = readBounded(file, 200_000);
      assert.ok(bytes.equals(Buffer.alloc(size, 7)));
      if (process.platform !== 'win32') assert.equal(mode & 0o777, 0o640);
    }
    assert.throws(() => readBounded(file, 199_999), /larger than 199999 bytes/);
  });

  it('is rejected, not read, if it is a folder, a pipe or a device', () => {
    const folder = temporaryFolder();
    mkdirSync(path.join(folder, 'folder'));
    assert.throws(() => readBounded(path.join(folder, 'folder')), /it is a folder/);
    assert.throws(() => readBounded(path.join(folder, 'none')), {
      code: 'ENOENT',
      message: 'it does not exist (ENOENT)',
    });
    if (process.platform === 'win32') return;
    execFileSync('mkfifo', [path.join(folder, 'pipe')]);
    assert.throws(() => readBounded(path.join(folder, 'pipe')), /not a regular file/);
    assert.throws(() => readBounded('/dev/zero'), /not a regular file/);
  });

  it('gets a hint about YAML only when its YAML is wrong', () => {
    const file = path.join(temporaryFolder(), 'broken.yaml');
    writeFileSync(file, 'robot: [unclosed\n');
    const hintOf = (name: string): string => {
      try {
        readYaml(name);
        return '';
      } catch (error) {
        return (error as TeleopError).hint;
      }
    };
    assert.match(hintOf(file), /YAML at the line/);
    if (existsSync('/proc/self/mem')) assert.match(hintOf('/proc/self/mem'), /regular file/);
    if (existsSync('/dev/zero')) assert.match(hintOf('/dev/zero'), /regular file/);
  });
});
