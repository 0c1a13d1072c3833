import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { openEmulatedPlace } from '../../src/app/check/emulated-place.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { type DatagramHandler, peerOf, type Reactor } from '../../src/wire/reactor.ts';
import { openCarrierReactor } from '../../src/wire/transports/carriers.ts';
import { openDataChannels } from '../../src/wire/transports/datachannel.ts';
import { openWebSockets } from '../../src/wire/transports/websocket.ts';
import { Lifetime } from '../lifetime.ts';
import { needs, needsPackage } from '../needs.ts';

const HOST = '127.0.0.1';
const WITHIN_NS = 30e9;

/** A free TCP port, and two numbers after it that only name the other channels. */
async function freePorts(): Promise<[number, number, number]> {
  const server = createServer().listen(0, HOST);
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return [port, port + 1, port + 2];
}

type Arrived = (socket: number, bytes: number[], from: number) => void;

class Handler implements DatagramHandler {
  readonly #arrived: Arrived;
  readonly #tick: () => void;
  readonly #giveUpNs = monotonicClock.nowNs() + WITHIN_NS;
  #nextNs = 0;

  constructor(arrived: Arrived, tick: () => void) {
    this.#arrived = arrived;
    this.#tick = tick;
  }

  onDatagram(socket: number, bytes: Uint8Array, length: number, from: number): void {
    this.#arrived(socket, [...bytes.subarray(0, length)], from);
    bytes.fill(0xee);
  }

  onOversize(): void {}

  onDeadline(nowNs: number): void {
    assert.ok(nowNs < this.#giveUpNs, 'nothing arrived within 30 s');
    this.#nextNs = nowNs + 10e6;
    this.#tick();
  }

  nextDeadlineNs(): number {
    return this.#nextNs;
  }
}

const TRANSPORTS = { websocket: openWebSockets, datachannel: openDataChannels } as const;

for (const kind of ['websocket', 'datachannel'] as const) {
  const skip = kind === 'datachannel' ? await needsPackage('node-datachannel') : false;
  describe(`link over ${kind}`, { skip }, () => {
    it('carries the three channels both ways, and the robot answers whoever asked', async (t) => {
      const lifetime = new Lifetime();
      t.after(() => lifetime.end());
      const ports = await freePorts();
      const open = async (role: 'operator' | 'robot'): Promise<Reactor> => {
        const reactor = await openCarrierReactor(
          kind,
          { role, host: HOST, ports, local: [] },
          TRANSPORTS[kind],
        );
        return lifetime.own(reactor, () => reactor.close());
      };
      const operator = await open('operator');
      const robot = await open('robot');
      const answered = new Map<number, string>();
      const ended = [
        robot.run(
          new Handler(
            (socket, bytes, from) =>
              void robot.send(socket, Uint8Array.of(...bytes, 7), bytes.length + 1, from),
            () => {},
          ),
        ),
        operator.run(
          new Handler(
            (socket, bytes, from) => {
              answered.set(socket, `${bytes} from ${from - peerOf(HOST, ports[socket]!)}`);
              if (answered.size === 3) for (const reactor of [operator, robot]) reactor.stop();
            },
            () => {
              for (let socket = 0; socket < 3; socket++)
                operator.send(socket, Uint8Array.of(socket, 5), 2, peerOf(HOST, ports[socket]!));
            },
          ),
        ),
      ];
      await Promise.all(ended);
      assert.deepEqual(
        [0, 1, 2].map((socket) => answered.get(socket)),
        ['0,5,7 from 0', '1,5,7 from 0', '2,5,7 from 0'],
      );
    });

    it('closes connections of pages and of programs that send something else', async (t) => {
      const lifetime = new Lifetime();
      t.after(() => lifetime.end());
      const ports = await freePorts();
      const robot = await openCarrierReactor(
        kind,
        { role: 'robot', host: HOST, ports, local: [] },
        TRANSPORTS[kind],
      );
      lifetime.own(robot, () => robot.close());
      const ended = robot.run(
        new Handler(
          () => assert.fail('it must not be delivered'),
          () => {},
        ),
      );
      const page = new WebSocket(`ws://${HOST}:${ports[0]}`, { origin: 'http://localhost' });
      const [refusal] = (await once(page, 'error')) as [Error];
      assert.match(refusal.message, /401/);
      const stranger = new WebSocket(`ws://${HOST}:${ports[0]}`);
      stranger.on('error', () => {});
      await once(stranger, 'open');
      // Text, no such channel, no datagram, and last what is longer than any datagram.
      for (const message of ['{}', Buffer.of(9, 1), Buffer.of(0), Buffer.alloc(70_000)])
        stranger.send(message);
      await once(stranger, 'close');
      robot.stop();
      await ended;
    });
  });
}

describe('the emulator between two namespaces', {
  skip: needs('Linux', 'ip', 'network namespaces', 'root'),
}, () => {
  it('carries the kernel’s TCP: every byte arrives, and what is lost is sent again', async (t) => {
    const place = await openEmulatedPlace('loss2', 3);
    const lifetime = new Lifetime();
    t.after(() => lifetime.end());
    lifetime.own(place, () => place.close());
    const inside = (side: 'tx' | 'rx', code: string) => {
      const [command, ...rest] = place.at(side, [process.execPath, '-e', code]);
      return { command: command!, rest };
    };
    const bytes = 3_000_000;
    const server = inside(
      'rx',
      `let n=0;require('net').createServer(c=>c.on('data',d=>{for(const b of d)if(b!==n++%251)process.exit(3)}).on('end',()=>{console.log(n);process.exit(0)})).listen(5000,'${place.host}',()=>process.send?.('ready'))`,
    );
    const receiver = spawn(server.command, server.rest, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    lifetime.own(receiver, () => receiver.kill('SIGKILL'));
    await once(receiver, 'message');
    const sender = inside(
      'tx',
      `const b=Buffer.from(Array.from({length:${bytes}},(_,i)=>i%251));require('net').connect(5000,'${place.host}',function(){this.end(b)})`,
    );
    execFileSync(sender.command, sender.rest, { timeout: 40_000 });
    const [text] = (await once(receiver.stdout!, 'data')) as [Buffer];
    assert.equal(Number(text), bytes, 'every byte arrived, in order');
    const [cat, ...rest] = place.at('tx', ['cat', '/proc/net/snmp']);
    const lines = execFileSync(cat!, rest, { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.startsWith('Tcp:'));
    const [names, values] = lines.map((line) => line.split(' '));
    const retransmitted = Number(values![names!.indexOf('RetransSegs')]);
    assert.ok(retransmitted > 5, `${retransmitted} segments were retransmitted`);
    const { forward } = await place.close();
    assert.ok(forward.lost > 5, JSON.stringify(forward.lostBy));
  });
});
