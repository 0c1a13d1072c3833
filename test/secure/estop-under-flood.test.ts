import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { writeFrame } from '../../src/wire/codecs/frame.ts';
import type { Peer } from '../../src/wire/reactor.ts';
import { engagedRig, type FuzzRig } from '../fuzz/rig.ts';

/** The operator's command socket: an attacker who knows its address can forge it. */
const operatorOf = (rig: FuzzRig): Peer => rig.operatorPeers[0]!;
const PER_MS = 1000;

interface Flood {
  name: string;
  datagram(rig: FuzzRig, i: number): Uint8Array;
}

const sealedOf = (rig: FuzzRig): Uint8Array => rig.sent.findLast((bytes) => bytes[3] === 0x78)!.slice();

const FLOODS: Flood[] = [
  { name: 'zeros', datagram: () => new Uint8Array(100) },
  { name: 'plain frames', datagram: () => new TextEncoder().encode('FH1c{"session":1}') },
  { name: 'replayed packets', datagram: sealedOf },
  {
    name: 'forged packets of the session, with future counters',
    datagram(rig, i) {
      const bytes = sealedOf(rig);
      new DataView(bytes.buffer).setUint32(8, 1_000_000 + i, true);
      return bytes;
    },
  },
];

/** Simulated time from the desk's e-stop to the robot's stop, with `PER_MS` datagrams of the flood in each millisecond. */
async function stopNs(flood: Flood | null): Promise<{ stopNs: number; flooded: number }> {
  const rig = await engagedRig(true);
  const state = (): string => rig.robot.supervisor.state;
  assert.equal(state(), 'engaged');
  const step = (ms: number) => {
    const datagram = flood?.datagram(rig, ms);
    for (let i = 0; datagram && i < PER_MS; i++)
      rig.network.inject(operatorOf(rig), rig.robotPeers[0]!, datagram);
    rig.network.run(rig.clock.nowNs() + 1e6);
  };
  for (let ms = 0; ms < 33; ms++) step(ms);
  const request = new Uint8Array(64);
  const length = writeFrame('request', { kind: 'estop' }, request);
  rig.network.inject(1, rig.operatorPeers[3]!, request.slice(0, length));
  const askedNs = rig.clock.nowNs();
  let ms = 33;
  for (; ms < 500 && state() !== 'stopped'; ms++) step(ms);
  assert.equal(state(), 'stopped');
  return { stopNs: rig.clock.nowNs() - askedNs, flooded: ms * PER_MS };
}

describe('an e-stop during a flood from the operator’s address', () => {
  for (const flood of FLOODS)
    it(`${flood.name}: stops the robot as fast as without it`, async () => {
      const quiet = await stopNs(null);
      const loud = await stopNs(flood);
      assert.ok(loud.flooded >= 33 * PER_MS);
      assert.equal(loud.stopNs, quiet.stopNs);
    });
});
