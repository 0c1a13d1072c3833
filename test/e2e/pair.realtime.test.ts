import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, it } from 'node:test';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Finished, farhand, type Running, root, startFarhand } from './farhand.ts';

const CODE = /code: ([0-9A-Z]{4}-[0-9A-Z]{4})/;
const WRONG = '0000-0000';
const bin = path.join(root, 'bin', 'farhand');

/** Starts a process whose key folder is `keys`; the environment is read while it starts. */
function withKeys<T>(keys: string, start: () => T): T {
  process.env['FARHAND_KEYS'] = keys;
  try {
    return start();
  } finally {
    delete process.env['FARHAND_KEYS'];
  }
}

interface Waiting {
  keys: string;
  process: Running;
  target: string;
  code: string;
}

async function robotMachine(...options: string[]): Promise<Waiting> {
  const keys = path.join(temporaryFolder(), 'keys');
  const process = withKeys(keys, () => startFarhand(['pair', '--port', '0', '--timeout', '30', ...options]));
  const code = (await process.waitFor(CODE))[1]!;
  const target = (await process.waitFor(/farhand pair (127\.0\.0\.1:\d+)/))[1]!;
  return { keys, process, target, code };
}

function operatorMachine(robot: Waiting, code: string, ...options: string[]) {
  const keys = path.join(temporaryFolder(), 'keys');
  const done = withKeys(keys, () => farhand(['pair', robot.target, '--code', code, ...options]));
  return done.then((finished) => ({ keys, ...finished }));
}

const keysIn = (folder: string) => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};
const secretIn = (file: string) => (JSON.parse(readFileSync(file, 'utf8')) as { key: string }).key;

function assertSecret(secret: string, ...outputs: string[]): void {
  const bytes = Buffer.from(secret, 'base64');
  for (const spelling of [secret.slice(0, 12), secret.slice(-12), bytes.toString('hex').slice(0, 12)])
    for (const output of outputs) assert.ok(!output.includes(spelling), output);
}

function assertRefused(finished: Finished, code: number, message: RegExp, hint: RegExp): void {
  assert.equal(finished.code, code, finished.stderr);
  assert.equal(finished.stdout, '');
  assert.match(finished.stderr, /^farhand: .*\n {2}→ .*\n$/);
  assert.match(finished.stderr, message);
  assert.match(finished.stderr, hint);
}

// Two machines of its own for each.
describe('farhand pair', { concurrency: 3 }, () => {
  it('gives two machines one key that neither prints', async () => {
    const robot = await robotMachine('--name', 'laptop');
    assert.match(robot.process.stdout(), /only this machine can reach/);
    const operator = await operatorMachine(robot, robot.code.toLowerCase(), '--name', 'ur3');
    assert.equal(operator.code, 0, operator.stderr);
    assert.equal(await robot.process.exited, 0, robot.process.stderr());
    assert.deepEqual([keysIn(operator.keys), keysIn(robot.keys)], [['ur3.key'], ['laptop.key']]);
    const files = [path.join(operator.keys, 'ur3.key'), path.join(robot.keys, 'laptop.key')] as const;
    assert.equal(secretIn(files[0]), secretIn(files[1]));
    for (const file of files) assert.equal(statSync(file).mode & 0o777, 0o600);
    for (const keys of [operator.keys, robot.keys]) assert.equal(statSync(keys).mode & 0o777, 0o700);
    assert.match(operator.stdout, /Paired with \S+\.\nKey [0-9a-f]{16} is "ur3", in \S+ur3\.key/);
    assert.match(robot.process.stdout(), /Paired with \S+\.\nKey [0-9a-f]{16} is "laptop"/);
    const listed = await withKeys(operator.keys, () => farhand(['pair', '--list']));
    assert.match(listed.stdout, /^ur3 {2}[0-9a-f]{16} {2}\d{4}-\d\d-\d\dT.*Z {2}operator\n$/);
    const json = await withKeys(operator.keys, () => farhand(['pair', '--list', '--json']));
    assert.equal((JSON.parse(json.stdout) as { name: string }[])[0]?.name, 'ur3');
    assertSecret(
      secretIn(files[0]),
      ...[operator.stdout, operator.stderr, robot.process.stdout(), robot.process.stderr()],
      ...[listed.stdout, json.stdout],
    );
  });

  it('rejects a wrong code with exit code 1, stores nothing, shows a new code after three', async () => {
    const robot = await robotMachine();
    for (let i = 0; i < 3; i++) {
      const operator = await operatorMachine(robot, WRONG);
      assertRefused(operator, 1, /does not match the one on the robot machine/, /shows now/);
      assert.deepEqual(keysIn(operator.keys), []);
    }
    const fresh = (await robot.process.waitFor(/New pairing code: (\S+)/))[1]!;
    assert.notEqual(fresh, robot.code);
    assert.match(robot.process.stdout(), /Wrong code from 127\.0\.0\.1; 2 attempts left/);
    assert.deepEqual(keysIn(robot.keys), []);
    const operator = await operatorMachine(robot, fresh, '--json');
    assert.equal((JSON.parse(operator.stdout) as { kind: string }).kind, 'paired');
    assert.equal(await robot.process.exited, 0);
  });

  it('reads the code from stdin, and prints JSON lines', async () => {
    const keys = temporaryFolder();
    const robot = withKeys(keys, () => startFarhand(['pair', '--port', '0', '--json']));
    const [, port, code] = await robot.waitFor(/"port":(\d+),"code":"([^"]+)"/);
    const env = { ...process.env, FARHAND_KEYS: temporaryFolder() };
    const child = spawn(process.execPath, [bin, 'pair', `localhost:${port}`], { cwd: root, env });
    child.stdin.end(`${code}\nignored\n`);
    const [exit] = (await once(child, 'close')) as [number];
    assert.equal(exit, 0);
    assert.equal(await robot.exited, 0);
    const kinds = robot.stdout().trim().split('\n');
    assert.deepEqual(
      kinds.map((line) => (JSON.parse(line) as { kind: string }).kind),
      ['waiting', 'paired'],
    );
  });

  it('asks for the code on a terminal, again if it is not a valid one', {
    skip: needs('script'),
  }, async () => {
    const robot = await robotMachine();
    const env = { ...process.env, FARHAND_KEYS: temporaryFolder() };
    const command = `'${process.execPath}' '${bin}' pair ${robot.target}`;
    const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: root, env });
    let shown = '';
    child.stdout.on('data', (data: Buffer) => {
      shown += data.toString();
      const prompts = shown.split('Code shown on the robot machine: ').length - 1;
      const typed = shown.includes('eight letters') ? robot.code : '12';
      if (data.toString().includes('machine: ') && prompts <= 2) child.stdin.write(`${typed}\n`);
    });
    const [exit] = (await once(child, 'close')) as [number];
    assert.equal(exit, 0, shown);
    assert.match(shown, /eight letters and digits/);
    assert.match(shown, /Paired with/);
    assert.equal(await robot.process.exited, 0);
  });

  it('reports when it listens on a network', async () => {
    const robot = withKeys(temporaryFolder(), () =>
      startFarhand(['pair', '--listen', '0.0.0.0', '--port', '0', '--timeout', '30']),
    );
    await robot.waitFor(/on 0\.0\.0\.0:\d+, open to every machine/);
    await robot.end();
  });

  it('ends a running robot whose pairing is removed', async () => {
    const keys = path.join(temporaryFolder(), 'keys');
    const file = path.join(temporaryFolder(), 'desk.key');
    for (const args of [
      ['--key-file', file, '--name', 'desk'],
      ['--import', file],
    ])
      assert.equal((await withKeys(keys, () => farhand(['pair', ...args]))).code, 0);
    const [name = ''] = keysIn(keys);
    const robot = withKeys(keys, () => startFarhand(['robot', 'trace.dir=']));
    await robot.waitFor(/robot ready/);
    const removed = await withKeys(keys, () => farhand(['pair', '--remove', name.replace('.key', '')]));
    assert.equal(removed.code, 0, removed.stderr);
    assert.notEqual(await robot.exited, 0);
    assert.match(robot.stderr(), /a pairing of this robot was removed/);
    assert.match(robot.stdout(), /→ stopped/);
  });

  it('copies a key by hand', async () => {
    const file = path.join(temporaryFolder(), 'cell.key');
    const made = await farhand(['pair', '--key-file', file]);
    assert.equal(made.code, 0, made.stderr);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    chmodSync(file, 0o644);
    const keys = path.join(temporaryFolder(), 'keys');
    const taken = await withKeys(keys, () => farhand(['pair', '--import', file, '--name', 'arm']));
    assert.equal(taken.code, 0, taken.stderr);
    assert.match(taken.stderr, /other users of this machine can read/);
    assert.equal(secretIn(path.join(keys, 'arm.key')), secretIn(file));
    assert.equal(statSync(path.join(keys, 'arm.key')).mode & 0o777, 0o600);
    const changed = await withKeys(keys, () => farhand(['pair', '--set', 'arm', '--role', 'viewer']));
    assert.match(changed.stdout, /"arm" is now a viewer: it may watch cameras and stop the robot/);
    assert.match((await withKeys(keys, () => farhand(['pair', '--list']))).stdout, /viewer\n$/);
    chmodSync(path.join(keys, 'arm.key'), 0o640);
    const listed = await withKeys(keys, () => farhand(['pair', '--list']));
    assert.match(listed.stdout, /^arm {2}other users of this machine can read/);
    assertSecret(secretIn(file), made.stdout, made.stderr, taken.stdout, taken.stderr, listed.stdout);
    const removed = await withKeys(keys, () => farhand(['pair', '--remove', 'arm']));
    assert.equal(removed.code, 0, removed.stderr);
    assert.match(removed.stdout, /until it is restarted/);
    assert.deepEqual(keysIn(keys), []);
  });

  it('times out with exit code 1 when no operator connects', async () => {
    const robot = withKeys(temporaryFolder(), () =>
      startFarhand(['pair', '--port', '0', '--timeout', '1', '--json']),
    );
    assert.equal(await robot.exited, 1);
    assert.match(
      robot.stderr(),
      /no operator entered the code within 1 s \[pairing-failed\]\n {2}→ .*--timeout/,
    );
  });

  const wrong: [string, string[], RegExp, RegExp][] = [
    ['an invalid code', ['127.0.0.1', '--code', '123'], /"123" is not a pairing code/, /7KQ2-M9XD/],
    ['no code', ['127.0.0.1'], /no code was given/, /--code/],
    [
      'a host without a robot',
      ['127.0.0.1:1', '--code', WRONG],
      /nothing is waiting to pair/,
      /farhand pair --listen/,
    ],
    ['an unknown name', ['no-such-host.invalid', '--code', WRONG], /no-such-host\.invalid/, /192\.168/],
    ['a bad port', ['127.0.0.1:99999', '--code', WRONG], /is not HOST or HOST:PORT/, /robot\.local:4749/],
    ['a code without a host', ['--code', WRONG], /does not take --code/, /pair HOST --code/],
    [
      'options of the other side',
      ['127.0.0.1', '--listen', '::'],
      /pair HOST does not take --listen/,
      /--help/,
    ],
    ['two things at once', ['--list', '--import', 'x'], /pair --list does not take --import/, /--help/],
    ['too many hosts', ['a', 'b'], /does not take "b"/, /--help/],
    ['no role', ['--set', 'desk'], /--set needs --role/, /--role viewer/],
    ['an unknown role', ['--role', 'boss'], /"boss" is not a role/, /operator or --role viewer/],
    ['a key to remove that is not there', ['--remove', 'desk'], /there is no key "desk"/, /--list/],
    ['a setting', ['a=b'], /does not take a=b/, /--help/],
    ['a name that is a path', ['--name', '../x'], /"\.\.\/x" is not a valid key name/, /64 letters/],
    ['an address of another machine', ['--listen', '192.0.2.77'], /192\.0\.2\.77:4749/, /--listen/],
    ['a missing key file', ['--import', '/none.key'], /no key \/none\.key/, /farhand pair/],
    ['a file that is not a key', ['--import', 'package.json'], /not a farhand key/, /copy the file again/],
    ['a path it cannot write', ['--key-file', '/proc/x.key'], /cannot be written/, /folder/],
  ];
  for (const [what, args, message, hint] of wrong)
    it(`rejects ${what} with a hint and exit code 2`, async () => {
      const finished = await withKeys(temporaryFolder(), () => farhand(['pair', ...args]));
      assertRefused(finished, 2, message, hint);
    });

  it('reports which port is in use and how to choose another', async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const finished = await farhand(['pair', '--port', String(port)]);
    server.close();
    assertRefused(finished, 2, new RegExp(`127\\.0\\.0\\.1:${port} for pairing is in use`), /--port \d+/);
  });
});
