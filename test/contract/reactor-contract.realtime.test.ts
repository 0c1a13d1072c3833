import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { TeleopError } from '../../src/core/errors.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import {
  type DatagramHandler,
  MAX_DATAGRAM_BYTES,
  type Peer,
  peerAddress,
  peerOf,
  peerPort,
  type Reactor,
  type SocketSpec,
} from '../../src/wire/reactor.ts';
import { openDgramReactor } from '../../src/wire/transports/udp-dgram.ts';
import { openNativeReactor } from '../../src/wire/transports/udp-native.ts';
import { needs } from '../needs.ts';

type Open = (specs: readonly SocketSpec[], stop?: Int32Array) => Promise<Reactor>;

/** Every reactor of datagram sockets. Skipped where it cannot run, with the reason. */
const REACTORS: Record<string, { open: Open; skip: string | false }> = {
  native: {
    open: openNativeReactor,
    skip: needs('Linux'),
  },
  dgram: { open: openDgramReactor, skip: false },
};

const LOOPBACK = '127.0.0.1';
const GIVE_UP_NS = 10e9;
const spec = (name: string, port = 0): SocketSpec => ({ name, host: LOOPBACK, port });

interface Arrival {
  socket: number;
  bytes: number[];
  from: Peer;
  receivedNs: number;
  kernelNs: number;
}

/**
 * Collects arrivals and stops the reactor when `enough` returns true, or after ten seconds. `onTick` runs at
 * every deadline: the handler itself sends, since a native reactor occupies its thread while it runs.
 */
class Collector implements DatagramHandler {
  readonly arrivals: Arrival[] = [];
  readonly oversize: number[] = [];
  readonly wokenNs: number[] = [];
  readonly #reactor: Reactor;
  readonly #enough: (collector: Collector) => boolean;
  readonly #onTick: (tick: number) => void;
  readonly #giveUpNs = monotonicClock.nowNs() + GIVE_UP_NS;
  #nextNs = monotonicClock.nowNs();

  constructor(reactor: Reactor, enough: (collector: Collector) => boolean, onTick: (tick: number) => void) {
    this.#reactor = reactor;
    this.#enough = enough;
    this.#onTick = onTick;
  }

  onDatagram(
    socket: number,
    bytes: Uint8Array,
    length: number,
    from: Peer,
    receivedNs: number,
    kernelNs: number,
  ): void {
    this.arrivals.push({ socket, bytes: [...bytes.subarray(0, length)], from, receivedNs, kernelNs });
    bytes.fill(0xee);
    this.#endIfEnough();
  }

  onOversize(socket: number): void {
    this.oversize.push(socket);
    this.#endIfEnough();
  }

  onDeadline(nowNs: number): void {
    assert.ok(nowNs >= this.#nextNs, 'called before its time');
    this.#nextNs = nowNs + 1e6;
    this.#onTick(this.wokenNs.push(nowNs) - 1);
    this.#endIfEnough();
  }

  nextDeadlineNs(): number {
    return this.#nextNs;
  }

  #endIfEnough(): void {
    if (this.#enough(this) || monotonicClock.nowNs() > this.#giveUpNs) this.#reactor.stop();
  }
}

/** Runs a reactor over loopback sockets and closes it. `onTick` may send through it. */
async function collect(
  open: Open,
  sockets: number,
  enough: (collector: Collector) => boolean,
  onTick: (reactor: Reactor, tick: number) => void,
): Promise<{ collector: Collector; ports: number[] }> {
  const reactor = await open(Array.from({ length: sockets }, (_, i) => spec(`s${i}`)));
  const ports = Array.from({ length: sockets }, (_, i) => reactor.localPort(i));
  try {
    const collector = new Collector(reactor, enough, (tick) => onTick(reactor, tick));
    await reactor.run(collector);
    return { collector, ports };
  } finally {
    reactor.close();
  }
}

const to = (reactor: Reactor, socket: number): Peer => peerOf(LOOPBACK, reactor.localPort(socket));

async function errorOf(work: Promise<unknown>): Promise<TeleopError> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof TeleopError, String(error));
  return error;
}

for (const [kind, { open, skip }] of Object.entries(REACTORS)) {
  describe(`the ${kind} reactor`, { skip, timeout: 120_000 }, () => {
    it('reports its properties', async () => {
      const reactor = await open([spec('one')]);
      assert.equal(reactor.kind, kind);
      assert.equal(reactor.stampSource, kind === 'native' ? 'kernel' : 'userspace');
      assert.ok(reactor.localPort(0) > 0);
      reactor.close();
    });

    it('delivers every datagram complete, in order, to its socket, with its sender', async () => {
      const count = 200;
      const buffer = new Uint8Array(MAX_DATAGRAM_BYTES);
      const sent: { socket: number; source: number; bytes: number[] }[] = [];
      const { collector, ports } = await collect(
        open,
        3,
        (seen) => seen.arrivals.length === count,
        (reactor, tick) => {
          if (tick >= count) return;
          const socket = tick % 3;
          const source = Math.floor(tick / 3) % 3;
          const length = 1 + ((tick * 37) % MAX_DATAGRAM_BYTES);
          for (let i = 0; i < length; i++) buffer[i] = (tick + i) & 255;
          sent.push({ socket, source, bytes: [...buffer.subarray(0, length)] });
          assert.ok(reactor.send(source, buffer, length, to(reactor, socket)) > 0);
          buffer.fill(0);
        },
      );
      for (let socket = 0; socket < 3; socket++)
        for (let source = 0; source < 3; source++)
          assert.deepEqual(
            collector.arrivals
              .filter((a) => a.socket === socket && a.from === peerOf(LOOPBACK, ports[source]!))
              .map((a) => a.bytes),
            sent.filter((s) => s.socket === socket && s.source === source).map((s) => s.bytes),
          );
      assert.equal(collector.arrivals.length, count);
    });

    it('delivers an empty datagram and the longest one, and reports longer ones', async () => {
      const lengths = [0, 1, MAX_DATAGRAM_BYTES, MAX_DATAGRAM_BYTES + 1, 2048, 2049, 9000, 60_000, 2];
      const bytes = new Uint8Array(60_000).fill(7);
      const { collector } = await collect(
        open,
        2,
        (seen) => seen.arrivals.length + seen.oversize.length === lengths.length,
        (reactor, tick) => {
          const length = lengths[tick];
          if (length !== undefined) reactor.send(0, bytes, length, to(reactor, 1));
        },
      );
      assert.deepEqual(
        collector.arrivals.map((a) => a.bytes.length),
        [0, 1, MAX_DATAGRAM_BYTES, 2],
      );
      assert.deepEqual(collector.oversize, [1, 1, 1, 1, 1]);
    });

    it('stamps arrivals on the monotonic clock', async () => {
      const count = 50;
      const sentNs: number[] = [];
      const { collector } = await collect(
        open,
        2,
        (seen) => seen.arrivals.length === count,
        (reactor, tick) => {
          if (tick >= count) return;
          sentNs.push(monotonicClock.nowNs());
          reactor.send(0, new Uint8Array([tick]), 1, to(reactor, 1));
        },
      );
      const afterNs = monotonicClock.nowNs();
      assert.equal(collector.arrivals.length, count);
      collector.arrivals.forEach(({ receivedNs, kernelNs }, i) => {
        assert.ok(receivedNs >= sentNs[i]! && receivedNs <= afterNs);
        if (kind === 'dgram') assert.ok(Number.isNaN(kernelNs));
        // The conversion from wall time is accurate to tens of microseconds; a millisecond is generous slack.
        else assert.ok(kernelNs <= receivedNs && kernelNs >= sentNs[i]! - 1e6, `${kernelNs} vs ${sentNs[i]}`);
      });
    });

    it('keeps calling the deadline when nothing arrives', async () => {
      const { collector } = await collect(
        open,
        1,
        (seen) => seen.wokenNs.length === 50,
        () => {},
      );
      assert.equal(collector.wokenNs.length, 50);
      for (let i = 1; i < 50; i++) assert.ok(collector.wokenNs[i]! - collector.wokenNs[i - 1]! >= 1e6);
    });

    it('keeps its deadlines in a flood', async () => {
      let floods = 0;
      const startNs = monotonicClock.nowNs();
      const reactor = await open([spec('flooded'), spec('quiet')]);
      const junk = new Uint8Array(64);
      const collector = new Collector(
        reactor,
        () => monotonicClock.nowNs() - startNs > 1e9,
        (tick) => {
          if (tick === 0) for (let i = 0; i < 200; i++) reactor.send(1, junk, 64, to(reactor, 0));
          reactor.send(0, junk, 1, to(reactor, 1));
        },
      );
      const onDatagram = collector.onDatagram.bind(collector);
      // Each datagram triggers the next, so that the socket always has more to read.
      collector.onDatagram = (socket, bytes, length, from, receivedNs, kernelNs) => {
        if (socket === 1) return onDatagram(socket, bytes, length, from, receivedNs, kernelNs);
        floods++;
        reactor.send(1, junk, 64, to(reactor, 0));
      };
      await reactor.run(collector);
      reactor.close();
      assert.ok(floods > 1000, `${floods} datagrams are too few for a flood`);
      // 1000 deadlines per second when idle.
      assert.ok(collector.wokenNs.length > 50, `${collector.wokenNs.length} deadlines in a second`);
      assert.ok(collector.arrivals.length > 25, 'the other socket is served as well');
    });

    it('does not fail without a receiver, and reports a datagram that cannot be sent', async () => {
      const gone = await open([spec('gone')]);
      const nobody = to(gone, 0);
      gone.close();
      const { collector } = await collect(
        open,
        2,
        (seen) => seen.arrivals.length === 1,
        (reactor, tick) => {
          if (tick < 5) assert.ok(reactor.send(0, new Uint8Array(4), 4, nobody) > 0);
          if (tick === 5) assert.equal(reactor.send(0, new Uint8Array(4), 4, peerOf(LOOPBACK, 0)), 0);
          if (tick === 6) reactor.send(0, new Uint8Array(4), 4, to(reactor, 1));
        },
      );
      assert.equal(collector.arrivals.length, 1);
    });

    it('ends when another thread raises the stop flag', async () => {
      const stop = new Int32Array(new SharedArrayBuffer(4));
      const reactor = await open([spec('one')], stop);
      const script = `
        const { workerData } = require('node:worker_threads');
        setTimeout(() => Atomics.store(workerData, 0, 1), 100);`;
      const worker = new Worker(script, { eval: true, workerData: stop });
      const startNs = monotonicClock.nowNs();
      const quiet: DatagramHandler = {
        onDatagram: () => {},
        onOversize: () => {},
        onDeadline: () => assert.fail('there is no deadline'),
        nextDeadlineNs: () => Number.POSITIVE_INFINITY,
      };
      await reactor.run(quiet);
      reactor.close();
      await worker.terminate();
      assert.equal(Atomics.load(stop, 0), 1);
      assert.ok(monotonicClock.nowNs() - startNs < 10e9);
    });

    it('reports which port is in use and the remedy', async () => {
      const holder = await open([spec('holder')]);
      const port = holder.localPort(0);
      const plain = await errorOf(open([spec('command', port)]));
      assert.equal(plain.code, 'port-in-use');
      assert.match(plain.message, new RegExp(`127\\.0\\.0\\.1:${port} for the command socket`));
      assert.match(plain.hint, /link\.commandPort=/);
      const keyed = await errorOf(open([{ ...spec('desk', port), portKey: 'console.deskPort' }]));
      assert.match(keyed.hint, /console\.deskPort=/);
      holder.close();
    });

    it('closes what it had opened when a later socket fails', async () => {
      const holder = await open([spec('holder'), spec('freed')]);
      const [taken, freed] = [holder.localPort(0), holder.localPort(1)];
      holder.close();
      const again = await open([spec('holder', taken)]);
      await errorOf(open([spec('first', freed), spec('second', taken)]));
      const reopened = await open([spec('first', freed)]);
      assert.equal(reopened.localPort(0), freed);
      reopened.close();
      again.close();
    });

    it('exchanges datagrams over IPv6; a socket on all addresses also with IPv4 peers', async () => {
      const hosts = ['::1', '::1', '::', LOOPBACK];
      const reactor = await open(hosts.map((host, i) => ({ name: `s${i}`, host, port: 0 })));
      const peer = (host: string, socket: number) => peerOf(host, reactor.localPort(socket));
      const collector = new Collector(
        reactor,
        ({ arrivals }) => new Set(arrivals.map(({ bytes }) => bytes[0])).size === 4,
        () => {
          const one = (from: number, number: number, at: Peer) =>
            reactor.send(from, Uint8Array.of(number), 1, at);
          one(0, 1, peer('::1', 1));
          one(0, 2, peer('::1', 2));
          one(3, 3, peer(LOOPBACK, 2));
          one(2, 4, peer(LOOPBACK, 3));
          assert.equal(one(3, 5, peer('::1', 0)), 0, 'an IPv4 socket cannot reach it');
        },
      );
      await reactor.run(collector).finally(() => reactor.close());
      const from = (number: number) => collector.arrivals.find(({ bytes }) => bytes[0] === number)!.from;
      assert.equal(from(1), peerOf('::1', peerPort(from(2))));
      assert.equal(from(3), peerOf(LOOPBACK, peerPort(from(3))));
      assert.equal(from(4), peerOf(LOOPBACK, peerPort(from(4))));
      assert.equal(peerAddress(from(1)), '::1');
    });

    it('listens only on the given address', async () => {
      const foreign = await errorOf(open([{ name: 'command', host: '203.0.113.7', port: 0 }]));
      assert.equal(foreign.code, 'socket-failed');
      assert.match(foreign.hint, /address/);
      for (const host of ['no such host', '1.2.3', '256.1.1.1', ''])
        assert.equal((await errorOf(open([{ name: 'command', host, port: 0 }]))).code, 'socket-failed', host);
    });
  });
}
