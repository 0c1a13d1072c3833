import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { needs } from '../../test/needs.ts';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { TeleopError } from '../core/errors.ts';
import { openDraft, PRIVATE, writeWhole } from './write-whole.ts';

const root = temporaryFolder('whole');
let dir = '';
let file = '';
let n = 0;
beforeEach(() => {
  dir = path.join(root, String(n++));
  mkdirSync(dir);
  file = path.join(dir, 'settings.json');
});

const modeOf = (name: string): number => statSync(name).mode & 0o777;

describe('an atomically written file', () => {
  it('replaces the old one and leaves nothing else in the folder', () => {
    writeFileSync(file, 'old content, longer than the new');
    writeWhole(file, 'new');
    assert.equal(readFileSync(file, 'utf8'), 'new');
    assert.deepEqual(readdirSync(dir), ['settings.json']);
  });

  it('is readable by its owner only from the first byte when private, in a private folder', () => {
    const secret = path.join(dir, 'keys', 'a.key');
    const draft = openDraft(secret, PRIVATE);
    const [name = ''] = readdirSync(path.dirname(secret));
    assert.equal(modeOf(path.join(path.dirname(secret), name)), 0o600);
    draft.write('secret');
    draft.commit();
    assert.equal(modeOf(secret), 0o600);
    assert.equal(modeOf(path.dirname(secret)), 0o700);
    chmodSync(secret, 0o644);
    writeWhole(secret, 'again', PRIVATE);
    assert.equal(modeOf(secret), 0o600, 'an exposed file becomes private again');
  });

  it('keeps the permissions of the file it replaces', () => {
    writeFileSync(file, '');
    chmodSync(file, 0o664);
    writeWhole(file, 'new');
    assert.equal(modeOf(file), 0o664);
  });

  it('keeps the owner of the file it replaces when root writes', {
    skip: needs('root'),
  }, () => {
    writeFileSync(file, '');
    chownSync(file, 12_345, 12_346);
    writeWhole(file, 'new', PRIVATE);
    assert.deepEqual([statSync(file).uid, statSync(file).gid], [12_345, 12_346]);
  });

  it('replaces the file behind a symbolic link, not the link', () => {
    const real = path.join(dir, 'dotfiles', 'settings.json');
    mkdirSync(path.dirname(real));
    symlinkSync(path.join('dotfiles', 'settings.json'), file);
    for (const text of ['made through a link to nothing', 'replaced']) {
      writeWhole(file, text);
      assert.equal(readFileSync(real, 'utf8'), text);
      assert.ok(lstatSync(file).isSymbolicLink());
    }
    symlinkSync('loop', path.join(dir, 'loop'));
    assert.throws(() => writeWhole(path.join(dir, 'loop'), ''), { code: 'file-unwritable' });
  });

  it('writes to a device instead of replacing it', () => {
    writeWhole('/dev/null', 'gone');
    assert.ok(lstatSync('/dev/null').isCharacterDevice());
  });

  it('does not touch an existing file when asked for a new one', () => {
    writeWhole(file, 'first', { replace: false });
    const late = openDraft(path.join(dir, 'other'), { replace: false });
    late.write('late');
    writeFileSync(path.join(dir, 'other'), 'somebody else was faster');
    assert.throws(() => late.commit(), /already exists/);
    late.discard();
    assert.throws(() => writeWhole(file, 'second', { replace: false }), /already exists/);
    assert.equal(readFileSync(file, 'utf8'), 'first');
    assert.equal(readFileSync(path.join(dir, 'other'), 'utf8'), 'somebody else was faster');
    assert.deepEqual(readdirSync(dir), ['other', 'settings.json']);
  });

  it('does not exist before commit, and is removed on discard', () => {
    const draft = openDraft(file);
    draft.write('part');
    assert.ok(!readdirSync(dir).includes('settings.json'));
    draft.discard();
    assert.deepEqual(readdirSync(dir), []);
  });

  it('reports the file, the reason and the remedy', () => {
    writeFileSync(file, '');
    const cases: [string, RegExp][] = [
      [path.join(dir, 'missing', 'x'), /x cannot be written: its folder does not exist \(ENOENT\)/],
      [path.join(file, 'x'), /x cannot be written: its folder is a file \(ENOTDIR\)/],
      [dir, /cannot be written: it is a folder \(EISDIR\)/],
    ];
    for (const [name, message] of cases)
      assert.throws(
        () => writeWhole(name, 'x', { hint: 'FARHAND_STATE chooses another.' }),
        (error) =>
          error instanceof TeleopError &&
          error.code === 'file-unwritable' &&
          message.test(error.message) &&
          /^[A-Z].*\. FARHAND_STATE chooses another\.$/.test(error.hint),
      );
    assert.throws(() => writeWhole(path.join(file, 'x'), '', PRIVATE), /its folder is a file/);
    assert.deepEqual(readdirSync(dir), ['settings.json']);
  });
});
