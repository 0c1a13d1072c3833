import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicClock } from '../../core/time/clock.ts';
import { Dashboard } from '../drivers/ur/dashboard.ts';
import { ReverseServer } from '../drivers/ur/reverse.ts';
import { RtdeClient } from '../drivers/ur/rtde.ts';
import { XarmTcp } from '../drivers/xarm6/tcp.ts';
import { Refused } from './wait.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A peer on a real socket; `play` is called for each connection. */
async function peer(play: (socket: Socket, connection: number) => void): Promise<number> {
  let count = 0;
  const sockets = new Set<Socket>();
  const server: Server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    play(socket, count++);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

async function until(reached: () => boolean, what: string, ms = 5000): Promise<void> {
  for (let left = ms; !reached(); left -= 5) {
    assert.ok(left > 0, what);
    await sleep(5);
  }
}

const TYPES = 'DOUBLE,VECTOR6D,VECTOR6D,VECTOR6D,VECTOR6D,INT32,INT32,UINT32,UINT32,UINT32';
const rtde = (type: number, payload: Buffer): Buffer => {
  const head = Buffer.of(0, 0, type);
  head.writeUInt16BE(3 + payload.length, 0);
  return Buffer.concat([head, payload]);
};
function statePackage(q: number): Buffer {
  const payload = Buffer.alloc(1 + 220);
  payload[0] = 1;
  payload.writeDoubleBE(1, 1);
  for (let i = 0; i < 6; i++) payload.writeDoubleBE(q, 9 + 8 * i);
  payload.writeInt32BE(7, 201);
  payload.writeInt32BE(1, 205);
  payload.writeUInt32BE(2, 209);
  return rtde(0x55, payload);
}
/** Replies of a well-behaved controller, in request order. */
const HANDSHAKE = [
  rtde(0x56, Buffer.of(1)),
  rtde(0x76, Buffer.from('00000003000000050000000400000001', 'hex')),
  rtde(0x4f, Buffer.concat([Buffer.of(1), Buffer.from(TYPES)])),
  rtde(0x53, Buffer.of(1)),
];

function client(port: number): { rtde: RtdeClient; states: number[]; downs: string[] } {
  const states: number[] = [];
  const downs: string[] = [];
  const made = new RtdeClient({ host: '127.0.0.1', port, hz: 125, toolOutput: false }, monotonicClock, {
    state: (state) => states.push(state.actualQ[0]!),
    down: (why) => downs.push(why),
  });
  closing.push(() => made.dispose());
  return { rtde: made, states, downs };
}

/** One reply per request. */
const decent = (socket: Socket, then: () => void, answers: readonly Buffer[] = HANDSHAKE): void => {
  let asked = 0;
  socket.on('data', () => {
    const answer = answers[asked++];
    if (answer !== undefined) socket.write(answer);
    if (asked === answers.length) then();
  });
};

describe('RTDE with hostile controllers', () => {
  it('parses a stream that arrives byte by byte, with text and garbage in between', async () => {
    const text = rtde(0x4d, Buffer.from('\x02hi\x01x\x03', 'latin1'));
    const unknown = rtde(0x01, Buffer.of(1, 2, 3));
    const short = rtde(0x55, Buffer.of(1, 2, 3));
    const notFinite = statePackage(Number.NaN);
    const stream = Buffer.concat([text, statePackage(0.25), unknown, short, notFinite, statePackage(0.5)]);
    const port = await peer((socket) =>
      decent(socket, async () => {
        for (const byte of stream) {
          socket.write(Buffer.of(byte));
          await sleep(0);
        }
      }),
    );
    const { rtde: made, states } = client(port);
    await until(() => states.length === 2, 'both states');
    assert.deepEqual(states, [0.25, 0.5]);
    assert.equal(made.malformed, 3);
  });

  it('drops a connection with an impossible length, reports it, and reconnects', async () => {
    const port = await peer((socket, connection) => {
      decent(socket, () => socket.write(connection === 0 ? Buffer.alloc(9000, 0xff) : statePackage(0.75)));
    });
    const { states, downs } = client(port);
    await until(() => states.length === 1, 'the second connection is good');
    assert.deepEqual(downs, ['RTDE message with an impossible length']);
  });

  it('survives a peer that dies mid-message, and starts afresh with the next', async () => {
    const port = await peer((socket, connection) => {
      decent(socket, () => {
        socket.write(connection === 0 ? statePackage(0.1).subarray(0, 50) : statePackage(0.2));
        if (connection === 0) setImmediate(() => socket.resetAndDestroy());
      });
    });
    const { states } = client(port);
    await until(() => states.length === 1, 'a state');
    assert.deepEqual(states, [0.2]);
  });

  for (const [what, answers, why] of [
    ['another version', [rtde(0x56, Buffer.of(0))], /version 2/],
    [
      'unknown outputs',
      [...HANDSHAKE.slice(0, 2), rtde(0x4f, Buffer.concat([Buffer.of(0), Buffer.from('NOT_FOUND')]))],
      /does not offer timestamp/,
    ],
    ['no start', [...HANDSHAKE.slice(0, 3), rtde(0x53, Buffer.of(0))], /rejected the RTDE start/],
  ] as const)
    it(`reports why the handshake failed: ${what}`, async () => {
      const port = await peer((socket) => decent(socket, () => {}, answers));
      const { rtde: made, downs } = client(port);
      await until(() => downs.length > 0, 'the failure is reported');
      assert.match(downs[0]!, why);
      assert.ok(!made.streaming);
    });

  it('decodes nothing from a flood of garbage', async () => {
    const port = await peer((socket) => {
      const garbage = Buffer.alloc(65536);
      for (let i = 0; i < garbage.length; i++) garbage[i] = (i * 7919) & 0xff;
      socket.write(garbage);
    });
    const { rtde: made, states, downs } = client(port);
    await until(() => downs.length >= 2, 'dropped repeatedly');
    assert.equal(states.length, 0);
    assert.ok(made.malformed >= 2);
  });
});

describe('dashboard with hostile controllers', () => {
  const rejected = (port: number, pattern: RegExp) =>
    assert.rejects(
      () => Dashboard.open('127.0.0.1', port),
      (error) => error instanceof Refused && pattern.test(error.message),
    );

  it('rejects a peer that hangs up, one that never ends a line, and a closed port', async () => {
    await rejected(await peer((socket) => socket.destroy()), /closed/);
    await rejected(await peer((socket) => socket.write('x'.repeat(5000))), /without a line end/);
    await rejected(1, /ECONNREFUSED/);
  });

  it('rejects on a missing reply, and on every request after a hang-up', async () => {
    const port = await peer((socket) => socket.write('hello\n'));
    const dashboard = await Dashboard.open('127.0.0.1', port);
    await assert.rejects(() => dashboard.ask('power on'), /no reply/);
    dashboard.close();
    await sleep(20);
    await assert.rejects(() => dashboard.ask('power on'), Refused);
  });
});

describe('the listener for control programs', () => {
  it('accepts only the token, however it is split, and only once', async () => {
    const { connect } = await import('node:net');
    const server = await ReverseServer.open('127.0.0.1', 0);
    closing.push(() => server.dispose());
    const call = async (...parts: number[][]): Promise<Socket> => {
      const socket = connect(server.port, '127.0.0.1');
      socket.setNoDelay(true);
      socket.on('error', () => {});
      closing.push(() => socket.destroy());
      await new Promise<void>((resolve) => socket.on('connect', () => resolve()));
      for (const part of parts) {
        socket.write(Buffer.from(part));
        await sleep(10);
      }
      return socket;
    };
    await call([1, 2, 3, 4]);
    await until(() => server.rejected === 1, 'no program expected');
    let taken = 0;
    server.expect(0x01020304, () => taken++);
    await call([1, 2, 3, 5]);
    await until(() => server.rejected === 2, 'a wrong token');
    await call([1], [2, 3], [4, 9, 9]);
    await until(() => taken === 1, 'the right one, in parts');
    await call([1, 2, 3, 4]);
    await until(() => server.rejected === 3, 'no second time');
    assert.equal(taken, 1);
  });
});

describe('xArm with hostile control boxes', () => {
  const open = async (command: (socket: Socket) => void, report: (socket: Socket) => void) => {
    const downs: string[] = [];
    const ports = [await peer(command), await peer(report)] as const;
    const tcp = new XarmTcp('127.0.0.1', ...ports, monotonicClock, {
      event: () => {},
      beat: () => {},
      down: (why) => downs.push(why),
    });
    closing.push(() => tcp.dispose());
    return { tcp, downs };
  };

  it('counts garbage, drops impossible lengths and never throws', async () => {
    const { tcp, downs } = await open(
      (socket) => socket.write(Buffer.concat([Buffer.alloc(8, 0), Buffer.alloc(2000, 0xff)])),
      (socket) => socket.write(Buffer.of(0, 0, 0, 50, ...new Array(46).fill(1), 0xff, 0xff, 0xff, 0xff)),
    );
    await until(() => downs.length >= 4, 'both are dropped and reconnected');
    assert.ok(tcp.malformed >= 4);
    assert.ok(!tcp.ready);
    assert.equal(await tcp.ask(13), -1);
  });

  it('rejects pending requests when the connection is lost', async () => {
    const { tcp } = await open(
      (socket) => socket.on('data', (bytes) => bytes.includes(13) && socket.destroy()),
      () => {},
    );
    await until(() => tcp.send(15) > 0, 'connected');
    const late = sleep(300).then(() => 'late');
    assert.equal(await Promise.race([tcp.ask(13), late]), -1);
  });

  it('detects a box that accepts commands without replying, while its reports flow', async () => {
    const { downs } = await open(
      (socket) => socket.resume(),
      (socket) => {
        const report = Buffer.alloc(87);
        report.writeUInt32BE(87, 0);
        const timer = setInterval(() => socket.write(report), 20);
        socket.on('close', () => clearInterval(timer));
      },
    );
    await until(() => downs.length > 0, 'the loss is reported');
    assert.deepEqual(downs, ['silent for 1000 ms']);
  });
});
