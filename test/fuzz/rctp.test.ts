import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { REASONS } from '../../src/core/counters.ts';
import { emptyRctp, encodeRctp, RCTP_BYTES } from '../../src/input/codecs/rctp-codec.ts';
import { peerOf } from '../../src/wire/reactor.ts';
import { SimulatedRig } from '../loops/simulated-rig.ts';
import { SEED } from '../seed.ts';
import { hostileDatagrams } from './datagrams.ts';
import { scaled } from './scale.ts';

const SHOTS = scaled(200_000);
const HEADSET = peerOf('10.0.0.3', 50_000);
const STRANGER = peerOf('10.0.0.4', 50_000);
const INPUT_SOCKET = 4;

function packet(timestampS: number, estop = false): Uint8Array {
  const bytes = new Uint8Array(RCTP_BYTES);
  encodeRctp({ ...emptyRctp(), timestampS, gripper: 1, tracking: true, estop }, bytes);
  return bytes;
}

async function followed(): Promise<{ rig: SimulatedRig; send: (forMs: number) => void }> {
  const rig = await SimulatedRig.create({ overrides: ['operator.input=rctp', 'operator.inputs.rctp={}'] });
  let clockS = 1;
  const send = (forMs: number) => {
    for (let t = 0; t < forMs; t += 20) {
      clockS += 0.02;
      rig.network.inject(HEADSET, rig.operator.peers[INPUT_SOCKET]!, packet(clockS));
      rig.runFor(20);
    }
  };
  rig.runFor(300);
  send(1000);
  assert.equal(rig.state, 'engaged');
  return { rig, send };
}

const corpus = [packet(2.5), packet(3, true), packet(Number.NaN, true), packet(0)];

describe('an RCTP port that receives hostile packets', () => {
  it('counts every hostile packet and keeps following its headset', async () => {
    const { rig, send } = await followed();
    const { loop, counters } = rig.operator;
    const counted = () => REASONS.reduce((sum, reason) => sum + counters.get(reason), 0);
    const before = counted();
    const shots = hostileDatagrams(corpus, SEED);
    for (let i = 0; i < SHOTS; i++) {
      const bytes = shots.next().value as Uint8Array;
      loop.onDatagram(INPUT_SOCKET, bytes, bytes.length, STRANGER, rig.nowNs, Number.NaN);
    }
    assert.equal(counted() - before, SHOTS);
    assert.ok(counters.get('unknown-source') > SHOTS / 100, 'some were well-formed');
    rig.robot.transitions.length = 0;
    send(500);
    assert.deepEqual(rig.path, []);
    assert.equal(rig.state, 'engaged');
  });

  it('survives a headset that sends garbage: stopped or still, never a jump', async () => {
    const { rig } = await followed();
    const shots = hostileDatagrams(corpus, SEED + 1);
    for (let i = 0; i < 5000; i++) {
      const bytes = shots.next().value as Uint8Array;
      rig.network.inject(HEADSET, rig.operator.peers[INPUT_SOCKET]!, bytes);
      rig.runFor(1);
    }
    assert.ok(rig.maxSpeedRadS() < 3.2, `${rig.maxSpeedRadS()} rad/s`);
    assert.equal(rig.state, 'stopped', 'one of the packets requested it');
  });
});
