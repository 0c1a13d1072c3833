import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { CdrWriter, ENCAPSULATION } from '../../src/core/cdr.ts';
import { SUBMESSAGE } from '../../src/robot/buses/dds/ids.ts';
import { float64MultiArray, jointState, readMessageOf, ros2Topic } from '../../src/robot/buses/dds/ros2.ts';
import { DDS_REASONS } from '../../src/robot/buses/dds/tally.ts';
import type { TopicReader } from '../../src/robot/buses/dds/topic-reader.ts';
import type { TopicWriter } from '../../src/robot/buses/dds/topic-writer.ts';
import { type Flight, type Host, Network } from './network.ts';

const NAME = '/hand/command';

function submessages({ bytes }: Flight): number[] {
  const kinds: number[] = [];
  for (let at = 20; at < bytes.length; at += 4 + bytes[at + 2]! + bytes[at + 3]! * 256)
    kinds.push(bytes[at]!);
  return kinds;
}

const isUserData = (flight: Flight): boolean =>
  submessages(flight).includes(SUBMESSAGE.data) && flight.to.port % 2 === 1;

interface Pair {
  network: Network;
  sender: Host;
  receiver: Host;
  writer: TopicWriter;
  reader: TopicReader;
  received: number[];
  publish(number: number): void;
}

/** A participant that writes numbers and one that records them. */
function pair(options: { reliable: boolean; readerReliable?: boolean; depth?: number }): Pair {
  const network = new Network();
  const sender = network.add('sender');
  const receiver = network.add('receiver');
  const received: number[] = [];
  const writer = sender.participant.addWriter(ros2Topic(NAME, float64MultiArray, options));
  const reader = receiver.participant.addReader(
    ros2Topic(NAME, float64MultiArray, { reliable: options.readerReliable ?? options.reliable }),
    ({ payload }) => received.push(readMessageOf(float64MultiArray, payload)!.data[0]!),
  );
  const out = new CdrWriter(new Uint8Array(1024));
  const publish = (number: number) => {
    out.begin(ENCAPSULATION.cdrLe);
    float64MultiArray.write(out, { data: [number, 0] });
    writer.write(out.bytes.subarray(0, out.length), network.nowNs, network.nowNs);
    out.bytes.fill(0xdd);
  };
  return { network, sender, receiver, writer, reader, received, publish };
}

function joined(options: Parameters<typeof pair>[0]): Pair {
  const both = pair(options);
  both.network.start(both.sender);
  both.network.start(both.receiver);
  both.network.run(100);
  assert.deepEqual([both.writer.matched, both.reader.matched], [1, 1]);
  return both;
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** Numbers between 0 and 1, repeatable. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('discovery', () => {
  for (const late of ['sender', 'receiver'] as const)
    it(`finds a ${late} that starts late, without waiting for a timer`, () => {
      const both = pair({ reliable: true });
      both.network.start(late === 'sender' ? both.receiver : both.sender);
      both.network.run(3456);
      both.network.start(both[late]);
      both.network.run(20);
      assert.deepEqual([both.writer.matched, both.reader.matched], [1, 1]);
    });

  it('succeeds on a network that loses every third datagram', () => {
    const both = pair({ reliable: true });
    const roll = chance(7);
    both.network.fate = () => (roll() < 0.34 ? [] : [1]);
    both.network.start(both.sender);
    both.network.start(both.receiver);
    both.network.run(5000);
    assert.deepEqual([both.writer.matched, both.reader.matched], [1, 1]);
  });

  it('drops a participant when its lease expires, and no sooner', () => {
    const { network, sender, receiver, reader, writer } = joined({ reliable: true });
    sender.isAlive = false;
    network.run(9500);
    assert.equal(reader.matched, 1);
    network.run(2000);
    assert.deepEqual([reader.matched, receiver.participant.participants], [0, 0]);
    assert.equal(receiver.participant.tally.get('lease-expired'), 1);
    sender.isAlive = true;
    network.run(2500);
    assert.deepEqual([writer.matched, reader.matched], [1, 1], 'and finds it again');
  });

  it('drops a leaving participant at once', () => {
    const { network, sender, receiver, reader } = joined({ reliable: true });
    sender.participant.leave(network.nowNs);
    sender.isAlive = false;
    network.run(5);
    assert.deepEqual([reader.matched, receiver.participant.participants], [0, 0]);
  });

  it('connects to a restarted participant, and drops the old one', () => {
    const { network, receiver, sender, reader, received } = joined({ reliable: true });
    sender.isAlive = false;
    network.run(300);
    const again = network.add('sender again', 0);
    const writer = again.participant.addWriter(ros2Topic(NAME, float64MultiArray, { reliable: true }));
    network.start(again);
    network.run(100);
    assert.equal(writer.matched, 1);
    const out = new CdrWriter(new Uint8Array(64));
    out.begin(ENCAPSULATION.cdrLe);
    float64MultiArray.write(out, { data: [77] });
    writer.write(out.bytes.subarray(0, out.length), network.nowNs, network.nowNs);
    network.run(5);
    assert.deepEqual(received, [77]);
    network.run(11_000);
    assert.deepEqual([reader.matched, receiver.participant.participants], [1, 1]);
  });

  it('counts other writers of a topic that is written here', () => {
    const { network, sender } = joined({ reliable: true });
    const rival = network.add('rival');
    rival.participant.addWriter(ros2Topic(NAME, float64MultiArray, { reliable: true }));
    assert.equal(sender.participant.rivals('rt/hand/command'), 0);
    network.start(rival);
    network.run(100);
    assert.equal(sender.participant.rivals('rt/hand/command'), 1);
    rival.participant.leave(network.nowNs);
    rival.isAlive = false;
    network.run(5);
    assert.equal(sender.participant.rivals('rt/hand/command'), 0);
  });

  it('does not match incompatible endpoints, and reports why', () => {
    const effort = pair({ reliable: false, readerReliable: true });
    effort.network.start(effort.sender);
    effort.network.start(effort.receiver);
    effort.network.run(100);
    assert.deepEqual([effort.writer.matched, effort.reader.matched], [0, 0]);
    assert.match(effort.receiver.participant.lastMismatch, /best-effort/);
    const network = new Network();
    const [a, b] = [network.add('a'), network.add('b')];
    const writer = a.participant.addWriter(ros2Topic(NAME, jointState, { reliable: true }));
    b.participant.addReader(ros2Topic(NAME, float64MultiArray, { reliable: true }), () => {});
    network.start(a);
    network.start(b);
    network.run(100);
    assert.equal(writer.matched, 0);
    assert.equal(b.participant.tally.get('type-mismatch'), 1);
    assert.match(b.participant.lastMismatch, /JointState_/);
  });

  it('matches a reliable writer with a best-effort reader', () => {
    const { network, received, publish } = joined({ reliable: true, readerReliable: false });
    publish(3);
    network.run(5);
    assert.deepEqual(received, [3]);
  });
});

describe('samples', () => {
  for (const reliable of [false, true])
    it(`arrive once and in order, ${reliable ? 'reliable' : 'best effort'}`, () => {
      const { network, received, publish, writer } = joined({ reliable });
      upTo(200).forEach((number) => {
        publish(number);
        network.run(11);
      });
      assert.deepEqual(received, upTo(200));
      assert.equal(writer.resent, 0);
      assert.ok(writer.isSettled);
    });

  it('that were lost are resent, reliable', () => {
    const { network, received, publish, writer } = joined({ reliable: true, depth: 32 });
    const roll = chance(3);
    network.fate = () => (roll() < 0.25 ? [] : [1]);
    upTo(300).forEach((number) => {
      publish(number);
      network.run(11);
    });
    network.fate = () => [1];
    network.run(500);
    assert.deepEqual(received, upTo(300));
    assert.ok(writer.resent > 20, `${writer.resent} sent again`);
  });

  it('that were lost one by one are resent even if nothing follows', () => {
    const { network, received, publish } = joined({ reliable: true, depth: 1 });
    let drop = true;
    network.fate = (flight) => {
      const lose = drop && isUserData(flight);
      if (lose) drop = false;
      return lose ? [] : [0.2];
    };
    publish(1);
    network.run(50);
    assert.deepEqual(received, []);
    network.run(100);
    assert.deepEqual(received, [1]);
  });

  it('with a history of one: the newest arrives, the lost one is reported as a gap', () => {
    const { network, received, publish, reader } = joined({ reliable: true, depth: 1 });
    publish(0);
    network.run(5);
    network.fate = (flight) => (isUserData(flight) ? [] : [0.2]);
    publish(1);
    network.run(5);
    network.fate = () => [0.2];
    publish(2);
    network.run(5);
    assert.deepEqual(received, [0, 2]);
    assert.equal(reader.lost, 1);
  });

  it('out of order and duplicated are reordered, reliable', () => {
    const { network, received, publish, receiver } = joined({ reliable: true, depth: 32 });
    const roll = chance(11);
    network.fate = () => [1 + roll() * 30, 1 + roll() * 30];
    upTo(200).forEach((number) => {
      publish(number);
      network.run(11);
    });
    network.run(500);
    assert.deepEqual(received, upTo(200));
    assert.ok(receiver.participant.tally.get('duplicate') > 100);
  });

  it('out of order and duplicated only move forward, best effort', () => {
    const { network, received, publish, reader } = joined({ reliable: false });
    const roll = chance(5);
    network.fate = () => [1 + roll() * 30, 1 + roll() * 30];
    upTo(200).forEach((number) => {
      publish(number);
      network.run(11);
    });
    network.run(100);
    assert.ok(received.every((number, i) => i === 0 || number > received[i - 1]!));
    assert.ok(received.length > 100 && received.length < 200);
    assert.equal(received.length + reader.lost, received.at(-1)! - received[0]! + 1);
  });

  it('from before a reader joined are not sent to it', () => {
    const both = pair({ reliable: true, depth: 10 });
    both.network.start(both.sender);
    both.network.run(50);
    for (const number of [1, 2, 3]) both.publish(number);
    both.network.start(both.receiver);
    both.network.run(300);
    both.publish(4);
    both.network.run(200);
    assert.deepEqual(both.received, [4]);
    assert.equal(both.reader.lost, 0);
  });

  it('after a missing one wait at most half a second', () => {
    const { network, received, publish } = joined({ reliable: true, depth: 64 });
    publish(0);
    network.run(5);
    let lost: number | null = null;
    network.fate = (flight) => {
      if (!isUserData(flight)) return [0.2];
      // The first sample after this, and every copy of it.
      const data = flight.bytes.length;
      const number = new DataView(flight.bytes.buffer).getFloat64(data - 32 - 16, true);
      lost ??= number;
      return number === lost ? [] : [0.2];
    };
    for (const number of [1, 2, 3, 4]) {
      publish(number);
      network.run(11);
    }
    network.run(300);
    assert.deepEqual(received, [0]);
    network.run(300);
    assert.deepEqual(received, [0, 2, 3, 4]);
  });

  it('that are too large for a datagram are rejected on write', () => {
    const { writer, network } = joined({ reliable: true });
    assert.equal(writer.write(new Uint8Array(65_000), 0, network.nowNs), false);
    assert.equal(writer.written, 0);
  });

  it('cannot be declared after the start', () => {
    const { sender } = joined({ reliable: true });
    assert.throws(() => sender.participant.addWriter(ros2Topic('/late', jointState, { reliable: true })));
  });
});

describe('reasons', () => {
  it('are all documented', () => {
    const page = readFileSync('docs/drivers/ros2.md', 'utf8');
    for (const reason of DDS_REASONS) assert.ok(page.includes(`\`${reason}\``), reason);
  });
});
