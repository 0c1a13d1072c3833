import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../../test/temporary-folder.ts';
import { TeleopError } from '../../core/errors.ts';
import { CpaceRun } from '../secure/cpace.ts';
import { keyId, keyPath, listKeys, readKeyFile } from '../secure/key-file.ts';
import { GUESSES_PER_CODE, MAX_CODES, OperatorExchange } from '../secure/pairing-protocol.ts';
import {
  createKeyFile,
  importKeyFile,
  type OfferEvent,
  type OfferOptions,
  offerPairing,
  requestPairing,
} from './pairing.ts';

const host = '127.0.0.1';
const WRONG = '0000-0000';
const temporary = () => temporaryFolder('pairing');
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** A waiting robot machine, and the events it has reported. */
async function offering(options: Partial<OfferOptions> = {}) {
  const folder = options.folder ?? temporary();
  const events: OfferEvent[] = [];
  let onWaiting: (port: number) => void = () => {};
  const waiting = new Promise<number>((resolve) => {
    onWaiting = resolve;
  });
  const done = offerPairing({
    host,
    port: 0,
    timeoutS: 20,
    name: 'operator',
    ...options,
    folder,
    onEvent(event) {
      events.push(event);
      if (event.kind === 'waiting') onWaiting(event.port);
    },
  });
  done.catch(() => {});
  const port = await waiting;
  const code = () => events.findLast((event) => 'code' in event)!.code;
  return { port, folder, events, done, code };
}

const request = (port: number, code: string, folder = temporary(), exchangeMs = 5000) =>
  requestPairing({ host, port, code, folder, name: 'robot', exchangeMs });

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => assert.fail('it did not fail'),
    (error: unknown) => {
      assert.ok(error instanceof TeleopError, String(error));
      return error;
    },
  );

describe('pairing over TCP', () => {
  it('stores the same key on both sides, readable by the owner only', async () => {
    const robot = await offering();
    const folder = temporary();
    const atOperator = await request(robot.port, robot.code(), folder);
    const atRobot = await robot.done;
    const [one, other] = [readKeyFile(atOperator.path), readKeyFile(atRobot.path)];
    assert.deepEqual(one.key, other.key);
    assert.equal(atOperator.id, keyId(one.key));
    assert.equal(atRobot.id, atOperator.id);
    assert.deepEqual([one.name, other.name], ['robot', 'operator']);
    for (const file of [atOperator.path, atRobot.path]) assert.equal(statSync(file).mode & 0o777, 0o600);
    const shown = JSON.stringify([robot.events, atOperator, atRobot]);
    assert.ok(!shown.includes(Buffer.from(one.key).toString('base64')));
  });

  it('names the key after the other machine and reports what it replaces', async () => {
    const folder = temporary();
    const ids: string[] = [];
    for (const replaced of [false, true]) {
      const robot = await offering({ name: null });
      const { port } = robot;
      const paired = await requestPairing({ host, port, code: robot.code(), folder, name: null });
      assert.equal(paired.name, (await robot.done).peer);
      assert.equal(paired.replaced, replaced ? ids[0] : null);
      ids.push(paired.id);
    }
    assert.notEqual(ids[0], ids[1]);
    assert.equal(listKeys(folder).length, 1);
  });

  it('stores nothing when the code is wrong, and still accepts the right one', async () => {
    const robot = await offering();
    const folder = temporary();
    const error = await failure(request(robot.port, WRONG, folder));
    assert.equal(error.code, 'pairing-failed');
    assert.deepEqual([listKeys(folder), listKeys(robot.folder)], [[], []]);
    assert.deepEqual(robot.events.at(-1), { kind: 'wrong-code', from: host, guessesLeft: 2 });
    await request(robot.port, robot.code(), folder);
    await robot.done;
    assert.deepEqual([listKeys(folder).length, listKeys(robot.folder).length], [1, 1]);
  });

  it('shows a new code after three wrong ones; the old one is void', async () => {
    const robot = await offering();
    const old = robot.code();
    for (let i = 0; i < GUESSES_PER_CODE; i++) await failure(request(robot.port, WRONG));
    assert.deepEqual(
      robot.events.map(({ kind }) => kind),
      ['waiting', 'wrong-code', 'wrong-code', 'wrong-code', 'new-code'],
    );
    assert.notEqual(robot.code(), old);
    assert.match((await failure(request(robot.port, old))).message, /does not match/);
    await request(robot.port, robot.code());
    await robot.done;
  });

  it('ends when someone keeps guessing', async () => {
    const robot = await offering();
    for (let i = 0; i < GUESSES_PER_CODE * MAX_CODES; i++) await failure(request(robot.port, WRONG));
    const error = await failure(robot.done);
    assert.equal(error.code, 'pairing-failed');
    assert.match(error.message, /too many wrong codes/);
    assert.deepEqual(listKeys(robot.folder), []);
    assert.equal((await failure(request(robot.port, robot.code()))).code, 'socket-failed');
  });

  it('fails on both sides when a man in the middle swaps the shares', async () => {
    const robot = await offering();
    const zero = { secret: new Uint8Array(8), channel: new Uint8Array(0), session: new Uint8Array(32) };
    const relay = createServer((near) => {
      const far = connect(robot.port, host);
      const swap = (from: Socket, to: Socket) =>
        from.on('data', (data) => {
          const message = JSON.parse(data.toString()) as Record<string, string>;
          const { share } = new CpaceRun('a', zero, new Uint8Array(0)).message;
          if (message['share']) message['share'] = Buffer.from(share).toString('base64');
          to.write(`${JSON.stringify(message)}\n`);
        });
      swap(near, far);
      swap(far, near);
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const)
        one.on('error', () => {}).on('close', () => other.destroy());
    });
    relay.listen(0, host);
    await once(relay, 'listening');
    const folder = temporary();
    const { port } = relay.address() as { port: number };
    const error = await failure(request(port, robot.code(), folder));
    relay.close();
    assert.equal(error.code, 'pairing-failed');
    assert.deepEqual([listKeys(folder), listKeys(robot.folder)], [[], []]);
    assert.equal(robot.events.at(-1)?.kind, 'wrong-code');
    await request(robot.port, robot.code());
    await robot.done;
  });

  it('reports to the operator that the robot machine cannot store the key', async () => {
    const blocked = path.join(temporary(), 'file');
    writeFileSync(blocked, '');
    const robot = await offering({ folder: blocked });
    const folder = temporary();
    const error = await failure(request(robot.port, robot.code(), folder));
    assert.match(error.message, /could not store/);
    assert.equal((await failure(robot.done)).code, 'file-unwritable');
    assert.deepEqual(listKeys(folder), []);
  });

  it('times out when no operator connects', async () => {
    const robot = await offering({ timeoutS: 0.2 });
    const error = await failure(robot.done);
    assert.equal(error.code, 'pairing-failed');
    assert.match(error.message, /no operator entered the code/);
    assert.match(error.hint, /--timeout/);
  });
});

describe('the waiting port under garbage', () => {
  const hello = `{"protocol":"farhand-pair/1","name":"x","nonce":"${randomBytes(16).toString('base64')}"}\n`;
  const open = async (port: number, localAddress = host) => {
    const socket = connect({ port, host, localAddress });
    socket.on('error', () => {});
    await once(socket, 'connect');
    return socket;
  };
  const attacks: Record<string, (port: number) => Promise<Socket[]>> = {
    'random bytes': async (port) => {
      const sockets = await Promise.all(Array.from({ length: 30 }, () => open(port)));
      for (const socket of sockets) socket.write(randomBytes(2000));
      return sockets;
    },
    'random lines': async (port) => {
      const sockets = await Promise.all(Array.from({ length: 10 }, () => open(port)));
      for (const socket of sockets) socket.write(`${randomBytes(100).toString('base64')}\n`.repeat(500));
      return sockets;
    },
    'a huge line': async (port) => {
      const socket = await open(port);
      const block = Buffer.alloc(65_536, 'x');
      for (let i = 0; i < 200 && !socket.destroyed; i++) {
        socket.write(block);
        await pause(0);
      }
      return [socket];
    },
    'an immediate close': async (port) => {
      for (let i = 0; i < 50; i++) (await open(port)).destroy();
      return [];
    },
    'a reset': async (port) => {
      for (let i = 0; i < 20; i++) (await open(port)).resetAndDestroy();
      const socket = await open(port);
      socket.write(hello);
      await once(socket, 'data');
      socket.resetAndDestroy();
      return [];
    },
    'silence on many connections': (port) => Promise.all(Array.from({ length: 60 }, () => open(port))),
    'one byte at a time': async (port) => {
      const sockets = await Promise.all(Array.from({ length: 8 }, () => open(port)));
      for (const socket of sockets) {
        let at = 0;
        const timer = setInterval(() => socket.write(hello[at++ % 20]!), 5);
        socket.on('close', () => clearInterval(timer));
      }
      await pause(50);
      return sockets;
    },
    'unfinished exchanges': async (port) => {
      const sockets = await Promise.all(Array.from({ length: 20 }, () => open(port)));
      for (const socket of sockets) socket.write(hello);
      return sockets;
    },
  };
  for (const [what, attack] of Object.entries(attacks))
    it(`survives ${what} and pairs at once with the honest operator`, async () => {
      const robot = await offering();
      const sockets = await attack(robot.port);
      await request(robot.port, robot.code());
      await robot.done;
      if (what === 'unfinished exchanges')
        assert.ok(
          sockets.some((socket) => !socket.destroyed),
          'they were not waited for',
        );
      assert.deepEqual(
        robot.events.map(({ kind }) => kind),
        ['waiting'],
        'garbage does not count as a guess',
      );
      for (const socket of sockets) socket.destroy();
    });

  it('lets an exchange finish while another machine keeps connecting', async () => {
    const robot = await offering();
    const operator = new OperatorExchange('laptop', robot.code());
    const honest = await open(robot.port);
    const answer = async (line: string) => {
      honest.write(line);
      const [data] = (await once(honest, 'data')) as [Buffer];
      return operator.receive(data.toString());
    };
    const proof = await answer(operator.hello());
    const flood = Array.from({ length: 40 }, () => open(robot.port, '127.0.0.2'));
    const sockets = await Promise.all(flood);
    await once(sockets[0]!.resume(), 'close');
    assert.ok(proof.kind === 'reply');
    assert.equal((await answer(proof.line)).kind, 'paired');
    for (const socket of [honest, ...sockets]) socket.destroy();
    await robot.done;
  });

  it('closes connections that take too long and the oldest of too many', async () => {
    const robot = await offering({ exchangeMs: 1500 });
    const sockets = await Promise.all(Array.from({ length: 40 }, () => open(robot.port)));
    const closed = sockets.map((socket) => once(socket.resume(), 'close'));
    await Promise.all(closed.slice(0, 24));
    assert.equal(sockets.filter((socket) => socket.destroyed).length, 24);
    await Promise.all(closed);
    await request(robot.port, robot.code());
    await robot.done;
  });
});

describe('an operator that reaches something else', () => {
  const serving = async (answer: (socket: Socket) => void) => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => {});
      answer(socket);
    });
    server.listen(0, host);
    await once(server, 'listening');
    return {
      port: (server.address() as { port: number }).port,
      close: () => {
        server.close();
        for (const socket of sockets) socket.destroy();
      },
    };
  };
  const others: [string, (socket: Socket) => void, RegExp][] = [
    ['a silent peer', () => {}, /stopped answering/],
    ['a peer that hangs up', (socket) => socket.destroy(), /hung up/],
    ['another service', (socket) => socket.write('SSH-2.0-OpenSSH_9.6\r\n'), /is not a farhand pairing port/],
    ['an endless line', (socket) => socket.write('x'.repeat(100_000)), /hung up/],
    ['another version', (socket) => socket.write('{"refused":"other-version"}\n'), /another version/],
  ];
  for (const [what, answer, message] of others)
    it(`fails in time against ${what}`, async () => {
      const server = await serving(answer);
      const folder = temporary();
      const error = await failure(request(server.port, WRONG, folder, 300));
      server.close();
      assert.equal(error.code, 'pairing-failed');
      assert.match(error.message, message);
      assert.deepEqual(listKeys(folder), []);
    });

  it('reports that nothing is waiting there', async () => {
    const server = await serving(() => {});
    server.close();
    const error = await failure(request(server.port, WRONG));
    assert.equal(error.code, 'socket-failed');
    assert.match(error.hint, /farhand pair --listen/);
  });
});

describe('a key copied by hand', () => {
  it('is created once and can be imported repeatedly', () => {
    const folder = temporary();
    const file = path.join(temporary(), 'cell-7.key');
    const made = createKeyFile(file, null);
    assert.equal(made.name, 'cell-7');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const before = readFileSync(file, 'utf8');
    assert.throws(() => createKeyFile(file, null), /already exists/);
    assert.equal(readFileSync(file, 'utf8'), before);
    chmodSync(file, 0o644);
    for (let i = 0; i < 2; i++) {
      const stored = importKeyFile(file, folder, null);
      assert.deepEqual([stored.id, stored.path], [made.id, keyPath(folder, 'cell-7')]);
    }
    assert.equal(statSync(keyPath(folder, 'cell-7')).mode & 0o777, 0o600);
    assert.equal(importKeyFile(file, folder, 'arm').path, keyPath(folder, 'arm'));
    assert.equal(readKeyFile(keyPath(folder, 'arm')).name, 'arm');
  });

  it('does not replace another key of the same name', () => {
    const [here, there, folder] = [temporary(), temporary(), temporary()];
    const first = createKeyFile(path.join(here, 'a.key'), null);
    createKeyFile(path.join(there, 'a.key'), null);
    importKeyFile(path.join(here, 'a.key'), folder, null);
    assert.throws(() => importKeyFile(path.join(there, 'a.key'), folder, null), /already exists/);
    assert.equal(keyId(readKeyFile(keyPath(folder, 'a')).key), first.id);
    assert.ok(existsSync(path.join(there, 'a.key')));
  });
});
