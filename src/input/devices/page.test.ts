import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { emptyHandSample } from '../../messages/hand-sample.ts';
import type { InputDevice } from '../device.ts';
import page from './page.ts';

const MS = 1e6;
const HAND = { positionM: [0.1, 1.2, -0.3], quatXyzw: [0, 0, 0, 1], gripper: 0.5, clutch: true };
const open = (staleAfterMs = 200): InputDevice => page.open({ staleAfterMs, fingers: false }, 0);

function send(device: InputDevice, body: unknown, atNs: number, from = 0): string | null {
  const bytes = new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
  return device.ingest(bytes, bytes.length, atNs, from, 0);
}

describe('page input', () => {
  it('counts each press of the record button once', () => {
    const device = open();
    const presses = [false, true, true, false, undefined, true].map((record) => {
      send(device, { ...HAND, record }, 1);
      return device.recordPresses;
    });
    assert.deepEqual(presses, [0, 1, 1, 1, 1, 2]);
  });

  it('returns the newest hand with a normalised quaternion', () => {
    const device = open();
    const coordinate = fc.double({ min: -5, max: 5, noNaN: true });
    const turn = fc.tuple(
      fc.double({ min: -Math.PI, max: Math.PI, noNaN: true }),
      fc.double({ min: 0.96, max: 1.04, noNaN: true }),
    );
    const gripper = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(
        fc.tuple(coordinate, coordinate, coordinate),
        turn,
        gripper,
        fc.boolean(),
        (at, [angle, norm], grip, clutch) => {
          const quatXyzw = [0, norm * Math.sin(angle / 2), 0, norm * Math.cos(angle / 2)];
          assert.equal(send(device, { positionM: at, quatXyzw, gripper: grip, clutch }, 7), null);
          const sample = emptyHandSample();
          assert.equal(device.sample(8, sample), 'ok');
          assert.deepEqual([...sample.positionM], JSON.parse(JSON.stringify(at)));
          assert.ok(Math.abs(Math.hypot(...sample.quatXyzw) - 1) < 1e-12);
          assert.ok(Math.abs(sample.quatXyzw[1]! - Math.sin(angle / 2)) < 1e-9);
          assert.deepEqual(
            [sample.gripper, sample.clutch, sample.tracking, sample.estop, sample.takenNs],
            [grip, clutch, true, false, 7],
          );
        },
      ),
    );
  });

  it('uses the page’s time where known, and rejects a hand that took too long to arrive', () => {
    const device = open(200);
    const sample = emptyHandSample();
    const taken = () => {
      device.sample(300 * MS, sample);
      return sample.takenNs;
    };
    assert.equal(send(device, { ...HAND, takenNs: 290 * MS }, 300 * MS), null);
    assert.equal(taken(), 290 * MS);
    assert.equal(send(device, { ...HAND, takenNs: 305 * MS }, 300 * MS), null);
    assert.equal(taken(), 300 * MS, 'a hand is never stamped after its arrival');
    assert.equal(send(device, { ...HAND, positionM: [1, 1, 1], takenNs: 99 * MS }, 300 * MS), 'too-old');
    assert.equal(send(device, { ...HAND, takenNs: 'now' }, 300 * MS), 'malformed');
    device.sample(300 * MS, sample);
    assert.deepEqual([sample.positionM[0], sample.clutch], [0.1, true]);
    assert.equal(send(device, { ...HAND, clutch: false, takenNs: 99 * MS }, 300 * MS), 'too-old');
    device.sample(300 * MS, sample);
    assert.equal(sample.clutch, false, 'a release counts however late');
  });

  it('is stale after the configured silence, and opens the clutch', () => {
    const device = open(100);
    const sample = emptyHandSample();
    assert.equal(device.sample(0, sample), 'none');
    send(device, HAND, 0);
    assert.equal(device.sample(100 * MS, sample), 'ok');
    assert.equal(sample.clutch, true);
    assert.equal(device.sample(100 * MS + 1, sample), 'stale');
    assert.deepEqual([sample.clutch, sample.tracking], [false, false]);
    send(device, HAND, 101 * MS);
    assert.equal(device.sample(101 * MS, sample), 'ok');
  });

  it('is another hand when a closed clutch comes from another socket or page that was not open just before', () => {
    for (const page of [undefined, 7]) {
      const device = open();
      const from = (socket: number, clutch: boolean, atMs: number) => {
        send(device, { ...HAND, clutch, page }, atMs * MS, socket);
        return device.stream;
      };
      const stream = from(1, false, 0);
      assert.equal(from(1, true, 20), stream);
      assert.equal(from(2, false, 620), stream, 'an open clutch is nobody’s grip');
      assert.notEqual(from(1, true, 640), stream, 'it was not open itself');
    }
  });

  it('reports why it rejected a hand', () => {
    const cases: [unknown, string][] = [
      ['', 'bad-json'],
      ['{"positionM":[0', 'bad-json'],
      ['null', 'malformed'],
      ['5', 'malformed'],
      ['[]', 'malformed'],
      ['{}', 'malformed'],
      [{ ...HAND, positionM: [0, 0] }, 'malformed'],
      [{ ...HAND, positionM: [0, 0, 0, 0] }, 'malformed'],
      [{ ...HAND, positionM: [0, null, 0] }, 'malformed'],
      [{ ...HAND, positionM: [0, '0', 0] }, 'malformed'],
      [JSON.stringify(HAND).replace('1.2', '1e999'), 'malformed'],
      [{ ...HAND, quatXyzw: [0, 0, 0] }, 'malformed'],
      [{ ...HAND, clutch: 1 }, 'malformed'],
      [{ ...HAND, clutch: 'true' }, 'malformed'],
      [{ ...HAND, gripper: 1.01 }, 'bad-range'],
      [{ ...HAND, gripper: -0.01 }, 'bad-range'],
      [{ ...HAND, gripper: null }, 'bad-range'],
      [{ ...HAND, positionM: [0, 5.01, 0] }, 'bad-range'],
      [{ ...HAND, quatXyzw: [0, 0, 0, 0] }, 'bad-range'],
      [{ ...HAND, quatXyzw: [1, 1, 1, 1] }, 'bad-range'],
      [{ ...HAND, quatXyzw: [1e308, 1e308, 0, 0] }, 'bad-range'],
    ];
    const device = open();
    for (const [body, reason] of cases) assert.equal(send(device, body, 5), reason, JSON.stringify(body));
    assert.equal(device.sample(6, emptyHandSample()), 'none', 'all were rejected');
  });

  it('accepts a silence limit within bounds', () => {
    assert.equal(page.config.safeParse({}).success, true);
    assert.equal(page.config.safeParse({ staleAfterMs: 49 }).success, false);
    assert.equal(page.config.safeParse({ staleAfterMs: 1001 }).success, false);
    assert.equal(page.automatic, false);
  });
});
