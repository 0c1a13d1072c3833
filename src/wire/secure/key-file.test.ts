import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../../test/temporary-folder.ts';
import { TeleopError } from '../../core/errors.ts';
import {
  asKeyName,
  createKey,
  isExposed,
  isKeyName,
  keyFolder,
  keyId,
  keyPath,
  listKeys,
  readKeyFile,
  writeKeyFile,
} from './key-file.ts';

const temporary = () => temporaryFolder('keys');
const createdAt = '2026-01-02T03:04:05.678Z';
const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8);

function errorOf(work: () => unknown): TeleopError {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof TeleopError, String(error));
    return error;
  }
  assert.fail('nothing was thrown');
}

describe('key file', () => {
  it('reads back what was written, private to its owner, in a private folder', () => {
    const folder = path.join(temporary(), 'a', 'keys');
    const key = createKey();
    const file = keyPath(folder, 'ur3-cell');
    const before = process.umask(0);
    writeKeyFile(file, { name: 'ur3-cell', key, createdAt });
    process.umask(before);
    assert.deepEqual(readKeyFile(file), { name: 'ur3-cell', key, createdAt, role: 'operator' });
    assert.equal(modeOf(file), '600');
    assert.equal(modeOf(folder), '700');
    assert.equal(isExposed(file), false);
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), {
      format: 'farhand-key/1',
      name: 'ur3-cell',
      created_at: createdAt,
      key: Buffer.from(key).toString('base64'),
    });
  });

  it('keeps a viewer’s role, and rejects an unknown one', () => {
    const file = keyPath(temporary(), 'wall');
    writeKeyFile(file, { name: 'wall', key: createKey(), createdAt, role: 'viewer' });
    assert.equal(readKeyFile(file).role, 'viewer');
    writeFileSync(file, readFileSync(file, 'utf8').replace('viewer', 'owner'));
    assert.equal(errorOf(() => readKeyFile(file)).code, 'file-unreadable');
  });

  it('replaces only on request, leaves no temporary file and keeps the mode', () => {
    const folder = temporary();
    const file = keyPath(folder, 'one');
    const [first, second] = [createKey(), createKey()];
    writeKeyFile(file, { name: 'one', key: first, createdAt });
    const error = errorOf(() => writeKeyFile(file, { name: 'one', key: second, createdAt }));
    assert.equal(error.code, 'file-unwritable');
    assert.deepEqual(readKeyFile(file).key, first);
    chmodSync(file, 0o644);
    writeKeyFile(file, { name: 'one', key: second, createdAt }, { replace: true });
    assert.deepEqual(readKeyFile(file).key, second);
    assert.equal(modeOf(file), '600');
    assert.deepEqual(readdirSync(folder), ['one.key']);
  });

  it('leaves nothing behind when it cannot write', () => {
    const folder = temporary();
    mkdirSync(path.join(folder, 'taken.key'));
    writeFileSync(path.join(folder, 'taken.key', 'x'), '');
    const entry = { name: 'taken', key: createKey(), createdAt };
    const error = errorOf(() => writeKeyFile(keyPath(folder, 'taken'), entry, { replace: true }));
    assert.equal(error.code, 'file-unwritable');
    assert.deepEqual(readdirSync(folder), ['taken.key']);
    const inFile = errorOf(() => writeKeyFile('/proc/self/cmdline/x.key', entry));
    assert.equal(inFile.code, 'file-unwritable');
    assert.match(inFile.message, /cannot be written/);
  });

  it('rejects a key that others can read, and says how to fix it', () => {
    for (const mode of [0o640, 0o604, 0o660, 0o610, 0o601]) {
      const file = path.join(temporary(), "it's mine.key");
      writeKeyFile(file, { name: 'one', key: createKey(), createdAt });
      chmodSync(file, mode);
      const error = errorOf(() => readKeyFile(file));
      assert.equal(error.code, 'key-exposed');
      const command = /`(chmod 600 .*)`/.exec(error.hint)?.[1] ?? '';
      execFileSync('sh', ['-c', command]);
      assert.equal(readKeyFile(file).name, 'one');
    }
  });

  it('reads an exposed key only on request', () => {
    const file = keyPath(temporary(), 'stick');
    writeKeyFile(file, { name: 'stick', key: createKey(), createdAt });
    chmodSync(file, 0o644);
    assert.equal(isExposed(file), true);
    assert.equal(readKeyFile(file, { allowExposed: true }).name, 'stick');
  });

  it('reports a missing key and how to get one', () => {
    const error = errorOf(() => readKeyFile(keyPath(temporary(), 'none')));
    assert.equal(error.code, 'key-missing');
    assert.match(error.hint, /farhand pair/);
  });

  it('rejects a file that is not a key without quoting it', () => {
    const secret = Buffer.from(createKey()).toString('base64');
    const good = { format: 'farhand-key/1', name: 'one', created_at: createdAt, key: secret };
    const bad = [
      '',
      '[]',
      'null',
      `{"key":"${secret}`,
      `${secret}`,
      JSON.stringify({ ...good, format: 'farhand-key/2' }),
      JSON.stringify({ ...good, name: '../../etc/x' }),
      JSON.stringify({ ...good, name: '\u001b[2J' }),
      JSON.stringify({ ...good, created_at: 'yesterday' }),
      JSON.stringify({ ...good, key: secret.slice(4) }),
      JSON.stringify({ ...good, key: `${secret.slice(0, 42)}==` }),
      JSON.stringify({ ...good, key: `!${secret.slice(1)}` }),
      JSON.stringify({ ...good, [secret]: 1 }),
      JSON.stringify({ ...good, padding: 'x'.repeat(5000) }),
    ];
    for (const text of bad) {
      const file = keyPath(temporary(), 'bad');
      writeFileSync(file, text, { mode: 0o600 });
      const error = errorOf(() => readKeyFile(file));
      assert.equal(error.code, 'file-unreadable', text);
      for (const part of [error.message, error.hint, error.stack ?? '', String(error.cause)])
        assert.ok(!part.includes(secret.slice(8, 16)), part);
    }
  });

  it('does not hang on a pipe or a folder in place of a key', () => {
    const folder = temporary();
    const pipe = keyPath(folder, 'pipe');
    execFileSync('mkfifo', ['-m', '600', pipe]);
    assert.equal(errorOf(() => readKeyFile(pipe)).code, 'file-unreadable');
    mkdirSync(keyPath(folder, 'folder'), { mode: 0o700 });
    assert.equal(errorOf(() => readKeyFile(keyPath(folder, 'folder'))).code, 'file-unreadable');
    for (const file of ['pipe', 'folder']) chmodSync(keyPath(folder, file), 0o755);
    const problems = listKeys(folder).map(({ problem }) => problem ?? '');
    assert.match(problems[0]!, /it is a folder/, 'whoever may read it: it is no key');
    assert.match(problems[1]!, /it is not a regular file/);
  });

  it('lists keys by name and id, problems included, never the key', () => {
    const folder = temporary();
    assert.deepEqual(listKeys(path.join(folder, 'none')), []);
    const key = createKey();
    writeKeyFile(keyPath(folder, 'b'), { name: 'b', key, createdAt });
    writeFileSync(keyPath(folder, 'a'), 'nonsense', { mode: 0o600 });
    writeKeyFile(keyPath(folder, 'c'), { name: 'c', key: createKey(), createdAt });
    chmodSync(keyPath(folder, 'c'), 0o644);
    writeFileSync(path.join(folder, 'notes.txt'), '');
    const listed = listKeys(folder);
    assert.deepEqual(
      listed.map(({ name, id }) => [name, id]),
      [
        ['a', null],
        ['b', keyId(key)],
        ['c', null],
      ],
    );
    assert.match(listed[0]!.problem ?? '', /not a farhand key/);
    assert.match(listed[2]!.problem ?? '', /can read/);
    assert.ok(!JSON.stringify(listed).includes(Buffer.from(key).toString('base64')));
  });
});

describe('key', () => {
  it('is 32 fresh bytes with an id of 16 hexadecimal digits', () => {
    const [one, other] = [createKey(), createKey()];
    assert.equal(one.length, 32);
    assert.notDeepEqual(one, other);
    const digest = createHash('sha256')
      .update(Buffer.concat([Buffer.from('farhand key id'), one]))
      .digest();
    assert.equal(keyId(one), digest.subarray(0, 8).toString('hex'));
  });

  it('has names that are safe as file names and on terminals', () => {
    for (const good of ['vm', 'ur3-cell', 'Robot_7.local', 'a'.repeat(64)]) assert.ok(isKeyName(good), good);
    for (const bad of ['', '.', '..', '.hidden', '-rf', 'a/b', 'a\\b', 'a b', 'a\n', 'ä', 'a'.repeat(65)])
      assert.ok(!isKeyName(bad), bad);
    for (const host of ['vm', "Anna's Laptop", '../x', '…', '', 'ü'.repeat(99), '-.-', 'x'.repeat(300)])
      assert.ok(isKeyName(asKeyName(host)), host);
    assert.equal(asKeyName("Anna's Laptop"), 'Anna-s-Laptop');
  });

  it('lives in FARHAND_KEYS, XDG_CONFIG_HOME or ~/.config', () => {
    assert.equal(keyFolder({ FARHAND_KEYS: '/srv/keys', XDG_CONFIG_HOME: '/c' }), '/srv/keys');
    assert.equal(keyFolder({ XDG_CONFIG_HOME: '/c' }), '/c/farhand/keys');
    for (const env of [{}, { XDG_CONFIG_HOME: 'relative' }, { XDG_CONFIG_HOME: '', FARHAND_KEYS: '' }])
      assert.match(keyFolder(env), /^\/.*\/\.config\/farhand\/keys$/);
  });
});
