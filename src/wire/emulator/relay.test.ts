import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '../../core/time/clock.ts';
import { type Peer, peerOf } from '../reactor.ts';
import { LinkRelay } from './relay.ts';
import { type LinkRequest, resolveLink } from './settings.ts';
import { DirectionCounters, type DirectionStats } from './stats.ts';

const MS = 1e6;
const ROBOT = [peerOf('127.0.0.1', 4750), peerOf('127.0.0.1', 4751)];
const OPERATOR = peerOf('127.0.0.1', 50_000);
const OTHER = peerOf('127.0.0.1', 50_001);

interface Sent {
  atMs: number;
  socket: number;
  to: Peer;
  first: number;
  length: number;
}

/** A relay on a manual clock, with a hostile caller that reuses its buffer. */
function setUp(request: LinkRequest, { capacity = 100, failSends = false } = {}) {
  const clock = new ManualClock(0);
  const sent: Sent[] = [];
  const counters = [
    new DirectionCounters(DirectionCounters.memory()),
    new DirectionCounters(DirectionCounters.memory()),
  ] as const;
  let idleCalls = 0;
  const relay = new LinkRelay({
    clock,
    outbox: {
      send(socket, bytes, length, to) {
        if (failSends) return 0;
        sent.push({ atMs: clock.nowNs() / MS, socket, to, first: bytes[0]!, length });
        return clock.nowNs();
      },
    },
    targets: ROBOT,
    settings: resolveLink(request),
    counters,
    seed: 1,
    capacity,
    onIdle: () => idleCalls++,
  });
  const bytes = new Uint8Array(1472);
  return {
    relay,
    sent,
    stats: () => counters.map((part) => part.snapshot()) as [DirectionStats, DirectionStats],
    idleCalls: () => idleCalls,
    arrive(socket: number, from: Peer, first: number, length = 100) {
      bytes[0] = first;
      relay.onDatagram(socket, bytes, length, from, clock.nowNs(), Number.NaN);
      bytes.fill(0xee);
    },
    runTo(ms: number) {
      while (relay.nextDeadlineNs() <= ms * MS) {
        clock.advanceTo(relay.nextDeadlineNs());
        relay.onDeadline(clock.nowNs());
      }
      clock.advanceTo(ms * MS);
    },
  };
}

const balanced = (part: DirectionStats) =>
  part.received + part.duplicated ===
  part.forwarded + part.lost + part.queued + part.oversize + part.noClient + part.sendFailed;

describe('LinkRelay', () => {
  it('carries a datagram to the target and the answer back, each at its time', () => {
    const link = setUp({ forward: { delayMs: 3 }, return: { delayMs: 7 } });
    link.arrive(2, OPERATOR, 11, 42);
    link.runTo(10);
    link.arrive(3, ROBOT[1]!, 22, 43);
    link.runTo(30);
    assert.deepEqual(link.sent, [
      { atMs: 3, socket: 3, to: ROBOT[1], first: 11, length: 42 },
      { atMs: 17, socket: 2, to: OPERATOR, first: 22, length: 43 },
    ]);
    const [forward, back] = link.stats();
    assert.deepEqual([forward.forwarded, back.forwarded, forward.queued, back.queued], [1, 1, 0, 0]);
    assert.ok(Math.abs(back.delayMs!.max - 7) < 1e-9);
    assert.equal(back.errorMs!.max, 0);
  });

  it('is one link for all mappings: FIFO holds across them', () => {
    const link = setUp({ forward: { delayMs: 1 }, events: [{ kind: 'stall', atMs: 5, forMs: 20 }] });
    link.runTo(6);
    link.arrive(0, OPERATOR, 1);
    link.arrive(2, OPERATOR, 2);
    link.arrive(0, OPERATOR, 3);
    link.runTo(40);
    assert.deepEqual(
      link.sent.map(({ atMs, first, to }) => [atMs, first, to]),
      [
        [26, 1, ROBOT[0]],
        [26, 2, ROBOT[1]],
        [26, 3, ROBOT[0]],
      ],
    );
  });

  it('sends answers to the most recent sender of each mapping', () => {
    const link = setUp({});
    link.arrive(0, OPERATOR, 1);
    link.arrive(2, OPERATOR, 2);
    link.arrive(0, OTHER, 3);
    link.arrive(1, ROBOT[0]!, 4);
    link.arrive(3, ROBOT[1]!, 5);
    link.runTo(1);
    const answers = link.sent.filter(({ first }) => first >= 4).map(({ to }) => to);
    assert.deepEqual(answers, [OTHER, OPERATOR]);
  });

  it('ignores unknown senders on the far side and answers with no client', () => {
    const link = setUp({});
    link.arrive(1, OTHER, 1);
    link.arrive(1, ROBOT[1]!, 2);
    link.arrive(1, ROBOT[0]!, 3);
    link.runTo(1);
    const [, back] = link.stats();
    assert.deepEqual([back.unknownSource, back.received, back.noClient, back.forwarded], [2, 1, 1, 0]);
    assert.equal(link.sent.length, 0);
  });

  it('drops and counts the newest datagram when full, and continues', () => {
    const link = setUp({ forward: { delayMs: 50 } }, { capacity: 10 });
    for (let i = 0; i < 15; i++) link.arrive(0, OPERATOR, i);
    assert.equal(link.stats()[0].queued, 10);
    link.runTo(60);
    assert.deepEqual(
      link.sent.map(({ first }) => first),
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    );
    assert.deepEqual(link.stats()[0].lostBy, { overflow: 5 });
    link.arrive(0, OPERATOR, 99);
    link.runTo(120);
    assert.equal(link.sent.at(-1)?.first, 99);
  });

  it('accounts for every datagram', () => {
    const everything: LinkRequest = {
      profile: 'wan',
      forward: { loss: { share: 0.1 }, duplicate: { share: 0.2, afterMs: 30 }, straggler: { share: 0.1 } },
    };
    const link = setUp(everything, { capacity: 20 });
    for (let i = 0; i < 2000; i++) {
      link.runTo(i * 3);
      link.arrive(0, OPERATOR, i & 255);
      if (i % 50 === 0) link.relay.onOversize(0);
      assert.ok(balanced(link.stats()[0]));
    }
    const [forward] = link.stats();
    assert.ok(forward.duplicated > 50 && forward.reordered > 50 && forward.lost > 100);
    assert.equal(forward.oversize, 40);
    const failing = setUp({}, { failSends: true });
    failing.arrive(0, OPERATOR, 1);
    failing.runTo(1);
    assert.equal(failing.stats()[0].sendFailed, 1);
    assert.ok(balanced(failing.stats()[0]));
  });

  it('applies new settings at once; datagrams in flight keep their time and order', () => {
    const link = setUp({ forward: { delayMs: 20 } });
    link.arrive(0, OPERATOR, 1);
    link.runTo(5);
    link.relay.change(
      resolveLink({ forward: { delayMs: 1 }, events: [{ kind: 'hole', atMs: 30, forMs: 10 }] }),
      1,
    );
    link.arrive(0, OPERATOR, 2);
    link.runTo(36);
    link.arrive(0, OPERATOR, 3);
    link.runTo(46);
    link.arrive(0, OPERATOR, 4);
    link.runTo(60);
    assert.deepEqual(
      link.sent.map(({ atMs, first }) => [atMs, first]),
      [
        [20, 1],
        [20, 2],
        [47, 4],
      ],
    );
  });

  it('checks for changed settings every 20 ms, with or without traffic', () => {
    const link = setUp({});
    link.runTo(1000);
    assert.equal(link.idleCalls(), 50);
  });
});
