import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Counters, REASONS } from '../../src/core/counters.ts';
import { collectGarbage } from '../../src/native/garbage.ts';
import { decodeDesk, emptyDesk } from '../../src/wire/codecs/desk.ts';
import { frameType, writeFrame } from '../../src/wire/codecs/frame.ts';
import { decodeProbe, emptyProbe } from '../../src/wire/codecs/sync.ts';
import { type DatagramHandler, peerOf } from '../../src/wire/reactor.ts';
import { SEED } from '../seed.ts';
import { hostileDatagrams } from './datagrams.ts';
import { engagedRig, type FuzzRig } from './rig.ts';
import { scaled } from './scale.ts';

/** Two million datagrams in total at full scale. */
const STRANGER = peerOf('127.0.0.1', 50_000);

const total = (counters: Counters): number => REASONS.reduce((sum, reason) => sum + counters.get(reason), 0);

function robotView({ robot }: FuzzRig) {
  const { state, cause, epoch, endedEngagement, targetRad } = robot.supervisor;
  const { depth, nextDueNs, releasedSeq } = robot.queue;
  return { state, cause, epoch, endedEngagement, target: [...targetRad], depth, nextDueNs, releasedSeq };
}

function operatorView({ operator }: FuzzRig) {
  const { state, receivedNs } = operator.robot;
  const { sync } = operator.sync;
  return {
    robot: JSON.stringify(state),
    receivedNs,
    totals: { ...operator.link.totals },
    offset: sync.offsetAt(1e9),
    epoch: sync.epoch,
    input: operator.sampler.active,
  };
}

/** Knocks and inits of the paired operator: a replay of one is answered statelessly and not counted. */
const isRequest = (bytes: Uint8Array): boolean => {
  const tag = Buffer.from(bytes.subarray(0, 4)).toString();
  return tag === 'FH2k' || tag === 'FH2i';
};

/** Sends the shots, and checks that each was counted and left nothing behind. */
function shoot(
  handler: DatagramHandler,
  rig: FuzzRig,
  counters: Counters,
  sockets: number,
  count: number,
  sources: readonly number[],
  allowed: (bytes: Uint8Array) => boolean,
): void {
  const datagrams = hostileDatagrams(rig.sent, SEED);
  const nowNs = rig.clock.nowNs();
  let heapBefore = 0;
  const before = total(counters);
  for (let i = 0; i < count; i++) {
    let bytes = datagrams.next().value as Uint8Array;
    while (!allowed(bytes)) bytes = datagrams.next().value as Uint8Array;
    handler.onDatagram(i % sockets, bytes, bytes.length, sources[i % sources.length]!, nowNs, Number.NaN);
    if (i === count >> 2) {
      collectGarbage();
      heapBefore = process.memoryUsage().heapUsed;
    }
  }
  collectGarbage();
  const grown = process.memoryUsage().heapUsed - heapBefore;
  assert.ok(grown < 4e6, `heap grew by ${grown} bytes`);
  assert.equal(total(counters) - before, count, 'every datagram counted once, by reason');
}

describe(`hostile datagrams, seed ${SEED}`, () => {
  it('change nothing on a sealed robot, from any sender', async () => {
    const rig = await engagedRig(true);
    assert.equal(rig.robot.supervisor.state, 'engaged');
    const before = robotView(rig);
    const sources = [STRANGER, ...rig.operatorPeers];
    const requests = new Set(rig.sent.filter(isRequest).map((bytes) => Buffer.from(bytes).toString('hex')));
    assert.ok(requests.size >= 2);
    const allowed = (bytes: Uint8Array) =>
      !isRequest(bytes) || !requests.has(Buffer.from(bytes).toString('hex'));
    shoot(rig.robotHandler, rig, rig.robotCounters, 3, scaled(1_000_000), sources, allowed);
    assert.ok(rig.robotCounters.get('bad-auth') > 0 && rig.robotCounters.get('unknown-key') > 0);
    assert.deepEqual(robotView(rig), before);
    rig.network.run(rig.clock.nowNs() + 1e9);
    assert.equal(rig.robot.supervisor.state, 'engaged', 'the session continues');
  });

  it('change nothing on a sealed operator', async () => {
    const rig = await engagedRig(true);
    const before = operatorView(rig);
    shoot(
      rig.operatorHandler,
      rig,
      rig.operatorCounters,
      3,
      scaled(400_000),
      [STRANGER, ...rig.robotPeers],
      () => true,
    );
    assert.deepEqual(operatorView(rig), before);
    rig.network.run(rig.clock.nowNs() + 1e9);
    assert.equal(rig.robot.supervisor.state, 'engaged', 'the session continues');
  });

  it('change nothing on a plain robot when they come from other addresses', async () => {
    const rig = await engagedRig(false);
    const before = robotView(rig);
    const desk = emptyDesk();
    const probe = emptyProbe();
    // Anyone may stop a robot; anyone may request the time from a plain one.
    const allowed = (bytes: Uint8Array) => {
      const type = frameType(bytes, bytes.length);
      if (type === 'probe') return decodeProbe(bytes, bytes.length, probe) !== null;
      return type !== 'desk' || decodeDesk(bytes, bytes.length, desk) !== null || desk.action !== 'estop';
    };
    shoot(rig.robotHandler, rig, rig.robotCounters, 3, scaled(400_000), [STRANGER], allowed);
    assert.deepEqual(robotView(rig), before);
  });

  it('never crash the desk, which executes only its own requests', async () => {
    const rig = await engagedRig(true);
    const out = new Uint8Array(512);
    const frame = (type: 'request' | 'hand', body: object) => out.slice(0, writeFrame(type, body, out));
    rig.sent.push(
      frame('request', { kind: 'input', name: 'page' }),
      frame('hand', { positionM: [0, 1, 0], quatXyzw: [0, 0, 0, 1], gripper: 0.5, clutch: true }),
    );
    const datagrams = hostileDatagrams(rig.sent, SEED);
    for (let i = 0; i < scaled(200_000); i++) {
      const bytes = datagrams.next().value as Uint8Array;
      rig.operatorHandler.onDatagram(3, bytes, bytes.length, STRANGER, rig.clock.nowNs(), Number.NaN);
    }
    assert.equal(rig.robot.supervisor.state, 'engaged');
    const { sample } = rig.operator.sampler.hand;
    assert.ok([...sample.positionM, ...sample.quatXyzw, sample.gripper].every(Number.isFinite));
    for (const reason of ['bad-tag', 'bad-json', 'malformed', 'wrong-port'] as const)
      assert.ok(rig.operatorCounters.get(reason) > 5, reason);
  });
});
