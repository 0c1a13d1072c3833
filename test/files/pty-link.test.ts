import assert from 'node:assert/strict';
import { readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { replaceLink } from '../../sim/pty-link.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const dir = temporaryFolder('pty-link');

describe('the link of a simulator', () => {
  it('in a folder that does not exist is an error with a remedy', () => {
    assert.throws(
      () => replaceLink('/dev/pts/1', path.join(dir, 'none', 'x.tty'), '--slcan'),
      (error) => error instanceof TeleopError && error.hint.includes('--slcan'),
    );
  });

  it('replaces a link, and nothing else', () => {
    const link = path.join(dir, 'link');
    symlinkSync('/dev/pts/1', link);
    replaceLink('/dev/pts/2', link, '--port');
    assert.equal(readlinkSync(link), '/dev/pts/2');
    const file = path.join(dir, 'file');
    writeFileSync(file, '');
    assert.throws(() => replaceLink('/dev/pts/2', file, '--port'), /is not a link/);
  });
});
