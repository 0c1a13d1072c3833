import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ManualClock } from '../../core/time/clock.ts';
import { type DatagramHandler, type Peer, peerOf } from '../reactor.ts';
import { type Impairment, LocalNetwork } from './local.ts';

const A = peerOf('10.0.0.1', 1000);
const B = peerOf('10.0.0.2', 2001);

interface Received {
  atNs: number;
  socket: number;
  text: string;
  from: Peer;
}

/** Endpoint A sends at each deadline of `everyNs`, endpoint B (two sockets) listens. */
function build(impair?: Impairment) {
  const clock = new ManualClock(0);
  const network = new LocalNetwork(clock, (untilNs) => clock.advanceTo(untilNs), impair);
  const sender = network.endpoint('10.0.0.1', [1000]);
  const receiver = network.endpoint('10.0.0.2', [2000, 2001]);
  const received: Received[] = [];
  const deadlines: number[] = [];
  const listener: DatagramHandler = {
    onDatagram(socket, bytes, length, from, receivedNs, kernelNs) {
      assert.ok(Number.isNaN(kernelNs));
      received.push({
        atNs: receivedNs,
        socket,
        text: new TextDecoder().decode(bytes.subarray(0, length)),
        from,
      });
      bytes.fill(0);
    },
    onOversize: () => assert.fail(),
    onDeadline: () => assert.fail(),
    nextDeadlineNs: () => Number.POSITIVE_INFINITY,
  };
  receiver.attach(listener);
  let nextNs = 0;
  let sent = 0;
  const bytes = new Uint8Array(32);
  sender.attach({
    onDatagram: () => assert.fail(),
    onOversize: () => assert.fail(),
    onDeadline(nowNs) {
      deadlines.push(nowNs);
      nextNs += 10;
      const { written } = new TextEncoder().encodeInto(`n${sent++}`, bytes);
      assert.ok(sender.outbox.send(0, bytes, written, B) >= 0);
      bytes.fill(0xff);
    },
    nextDeadlineNs: () => nextNs,
  });
  return { clock, network, received, deadlines, sent: () => sent };
}

describe('local network', () => {
  it('carries datagrams at once, to the right socket, with their sender', () => {
    const { network, received, clock } = build();
    network.run(25);
    assert.equal(clock.nowNs(), 25);
    assert.deepEqual(received, [
      { atNs: 0, socket: 1, text: 'n0', from: A },
      { atNs: 10, socket: 1, text: 'n1', from: A },
      { atNs: 20, socket: 1, text: 'n2', from: A },
    ]);
  });

  it('calls each deadline at its time', () => {
    const { network, deadlines } = build();
    network.run(35);
    assert.deepEqual(deadlines, [0, 10, 20, 30]);
  });

  it('delays by what the impairment says and delivers by time, then by order of sending', () => {
    const delays = fc.array(fc.option(fc.nat(60), { nil: null }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(delays, (plan) => {
        let i = 0;
        const { network, received } = build(() => plan[i++ % plan.length] ?? null);
        network.run(399);
        const expected = Array.from({ length: 40 }, (_, n) => ({ n, delay: plan[n % plan.length] ?? null }))
          .filter(({ n, delay }) => delay !== null && n * 10 + delay <= 399)
          .map(({ n, delay }) => ({ atNs: n * 10 + delay!, text: `n${n}` }))
          .sort((a, b) => a.atNs - b.atNs || Number(a.text.slice(1)) - Number(b.text.slice(1)));
        assert.deepEqual(
          received.map(({ atNs, text }) => ({ atNs, text })),
          expected,
        );
      }),
    );
  });

  it('passes sender, receiver and time to the impairment', () => {
    const seen: number[][] = [];
    const { network } = build((from, to, nowNs) => {
      seen.push([from, to, nowNs]);
      return 0;
    });
    network.run(15);
    assert.deepEqual(seen, [
      [A, B, 0],
      [A, B, 10],
    ]);
  });

  it('drops what the impairment loses and what has no receiver', () => {
    const { network, received, sent } = build(() => null);
    network.run(100);
    assert.deepEqual([received.length, sent()], [0, 11]);
    const other = build();
    other.network.inject(A, peerOf('10.9.9.9', 1), new Uint8Array(3));
    other.network.run(5);
    assert.equal(other.received.length, 1);
  });

  it('carries what is injected as if its sender had sent it', () => {
    const { network, received } = build(() => 3);
    const stranger = peerOf('6.6.6.6', 666);
    network.inject(stranger, peerOf('10.0.0.2', 2000), new TextEncoder().encode('boo'));
    network.run(5);
    assert.deepEqual(
      received,
      [
        { atNs: 3, socket: 1, text: 'n0', from: A },
        { atNs: 3, socket: 0, text: 'boo', from: stranger },
      ].reverse(),
    );
  });

  it('gives the same run every time, in one go or in pieces', () => {
    const impair = () => {
      let state = 7;
      return () => {
        state = (state * 1103515245 + 12345) % 2 ** 31;
        return state % 5 === 0 ? null : state % 40;
      };
    };
    const whole = build(impair());
    whole.network.run(1000);
    const again = build(impair());
    for (let untilNs = 0; untilNs <= 1000; untilNs += 7) again.network.run(untilNs);
    again.network.run(1000);
    assert.deepEqual(again.received, whole.received);
    assert.ok(whole.received.length > 50 && whole.received.length < 101);
  });

  it('stops on request and continues when run again', () => {
    const clock = new ManualClock(0);
    const network = new LocalNetwork(clock, (untilNs) => clock.advanceTo(untilNs));
    let calls = 0;
    network.endpoint('10.0.0.1', [1]).attach({
      onDatagram: () => {},
      onOversize: () => {},
      onDeadline: () => {
        if (++calls % 3 === 0) network.stop();
      },
      nextDeadlineNs: () => calls * 10,
    });
    network.run(1e9);
    assert.deepEqual([calls, clock.nowNs()], [3, 20]);
    network.run(1e9);
    assert.deepEqual([calls, clock.nowNs()], [6, 50]);
  });
});
