import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CdrWriter, ENCAPSULATION } from '../../src/core/cdr.ts';
import { float64MultiArray, jointState, readMessageOf, ros2Topic } from '../../src/robot/buses/dds/ros2.ts';
import { DDS_REASONS } from '../../src/robot/buses/dds/tally.ts';
import { Network } from '../dds/network.ts';
import { SEED } from '../seed.ts';
import { hostileDatagrams } from './datagrams.ts';
import { scaled } from './scale.ts';

const SHOTS = scaled(100_000);

/** Two peers that communicate, and everything sent between them. */
function conversation() {
  const network = new Network();
  const [robot, us] = [network.add('robot'), network.add('us')];
  const corpus: Uint8Array[] = [];
  let received = 0;
  const qos = { reliable: true, depth: 4 };
  const states = robot.participant.addWriter(ros2Topic('/states', jointState, qos));
  const commands = us.participant.addWriter(ros2Topic('/commands', float64MultiArray, qos));
  robot.participant.addReader(ros2Topic('/commands', float64MultiArray, qos), () => {});
  const reader = us.participant.addReader(ros2Topic('/states', jointState, qos), ({ payload }) => {
    if (readMessageOf(jointState, payload) !== null) received++;
  });
  network.fate = ({ from, bytes }) => {
    if (from === robot && corpus.length < 60) corpus.push(bytes);
    return [0.2];
  };
  network.start(robot);
  network.start(us);
  const out = new CdrWriter(new Uint8Array(512));
  const sendState = () => {
    out.begin(ENCAPSULATION.cdrLe);
    const list = [1, 2, 3];
    jointState.write(out, {
      stampNs: 0,
      frameId: '',
      names: ['a', 'b', 'c'],
      positions: list,
      velocities: list,
      efforts: [],
    });
    states.write(out.bytes.subarray(0, out.length), network.nowNs, network.nowNs);
    commands.write(
      Uint8Array.of(0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
      network.nowNs,
      network.nowNs,
    );
    network.run(11);
  };
  network.run(50);
  for (let i = 0; i < 30; i++) sendState();
  return { network, us, robot, reader, corpus, sendState, received: () => received };
}

describe('a participant that receives hostile packets', () => {
  it('never throws, keeps its memory bounded, and counts what it rejects', () => {
    const { network, us, corpus, reader } = conversation();
    assert.ok(corpus.length >= 40);
    // Includes a fragment, which our own writers never send.
    const fragment = corpus.at(-1)!.slice();
    fragment[20] = 0x16;
    const shots = hostileDatagrams([...corpus, fragment], SEED);
    let answers = 0;
    network.fate = () => {
      answers++;
      return [];
    };
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < SHOTS; i++) {
      us.participant.receive(shots.next().value as Uint8Array, network.nowNs);
      if (i % 500 === 0) network.run(10);
    }
    const kept = process.memoryUsage().heapUsed - before;
    assert.ok(kept < 64 * 2 ** 20, `${kept} bytes`);
    assert.ok(us.participant.participants <= 128);
    assert.ok(reader.matched <= 128);
    assert.ok(answers < 20 * SHOTS, `${answers} answers`);
    const { tally } = us.participant;
    const rejected = DDS_REASONS.reduce((sum, reason) => sum + tally.get(reason), 0);
    assert.ok(rejected > SHOTS / 4, `${rejected} rejected`);
    for (const reason of ['short', 'bad-magic', 'malformed', 'unknown-submessage'] as const)
      assert.ok(tally.get(reason) > 0, reason);
  });

  it('still receives its own robot afterwards', () => {
    const { network, us, corpus, sendState, received } = conversation();
    const shots = hostileDatagrams(corpus, SEED + 1);
    for (let i = 0; i < 20_000; i++) us.participant.receive(shots.next().value as Uint8Array, network.nowNs);
    // Any false belief about its robot expires with its lease; a new robot is found.
    const again = network.add('robot again');
    const states = again.participant.addWriter(ros2Topic('/states', jointState, { reliable: true }));
    network.start(again);
    network.run(300);
    const before = received();
    assert.equal(states.matched, 1);
    const out = new CdrWriter(new Uint8Array(512));
    for (let i = 0; i < 20; i++) {
      out.begin(ENCAPSULATION.cdrLe);
      jointState.write(out, {
        stampNs: i,
        frameId: '',
        names: [],
        positions: [i],
        velocities: [],
        efforts: [],
      });
      states.write(out.bytes.subarray(0, out.length), network.nowNs, network.nowNs);
      network.run(11);
    }
    assert.ok(received() - before >= 20);
    sendState();
  });
});
