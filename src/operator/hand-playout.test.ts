import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import page from '../input/devices/page.ts';
import { emptyHandSample } from '../messages/hand-sample.ts';
import { HandPlayout } from './hand-playout.ts';

const MS = 1e6;

/** A constant delay after the device took the sample. */
const fixed = (delayMs: number) => ({ schedule: (takenNs: number) => takenNs + delayMs * MS });

function send(
  device: HandPlayout,
  takenMs: number,
  arrivedMs: number,
  x: number,
  clutch = true,
): string | null {
  const hand = { positionM: [x, 1, 0], quatXyzw: [0, 0, 0, 1], gripper: 0.5, clutch, takenNs: takenMs * MS };
  const bytes = new TextEncoder().encode(JSON.stringify(hand));
  return device.ingest(bytes, bytes.length, arrivedMs * MS, 1, 0);
}

const open = (delayMs: number) =>
  new HandPlayout(page.open({ staleAfterMs: 200, fingers: false }, 0), fixed(delayMs));

describe('HandPlayout', () => {
  it('shows the hand a steady delay after it was taken, whatever the path did', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 120, maxLength: 120 }),
        (jitterMs) => {
          const device = open(60);
          const out = emptyHandSample();
          // 60 Hz, in order; the hand moves at a constant speed, so its position gives the time of the sample.
          const arrivals: { takenMs: number; atMs: number }[] = [];
          jitterMs.forEach((jitter, i) => {
            const takenMs = (i * 1000) / 60;
            const atMs = Math.max(takenMs + 5 + jitter, arrivals.at(-1)?.atMs ?? 0);
            arrivals.push({ takenMs, atMs });
          });
          let next = 0;
          for (let nowMs = 10; nowMs < 1900; nowMs += 10) {
            for (; next < arrivals.length && arrivals[next]!.atMs <= nowMs; next++)
              send(device, arrivals[next]!.takenMs, arrivals[next]!.atMs, arrivals[next]!.takenMs / 1000);
            if (device.sample(nowMs * MS, out) !== 'ok' || nowMs < 120) continue;
            assert.ok(
              Math.abs(out.positionM[0]! - (nowMs - 60) / 1000) < 1e-9,
              `${nowMs}: ${out.positionM[0]}`,
            );
            assert.ok(Math.abs(out.takenNs - (nowMs - 60) * MS) < 1);
            assert.ok(device.usedArrivalNs <= nowMs * MS, 'never from a message that has not arrived');
          }
        },
      ),
      { numRuns: 30 },
    );
  });

  it('opens the clutch at once, even if it closes again before the next tick, and closes it with the pose', () => {
    const device = open(100);
    const out = emptyHandSample();
    const clutchAt = (ms: number) => {
      device.sample(ms * MS, out);
      return out.clutch;
    };
    send(device, 0, 5, 0, false);
    send(device, 20, 25, 0, true);
    assert.equal(clutchAt(30), false);
    for (let ms = 40; ms < 200; ms += 20) send(device, ms, ms + 5, 0, true);
    assert.equal(clutchAt(110), false, 'the pose of that moment is not due yet');
    assert.equal(clutchAt(190), true);
    send(device, 200, 205, 0, false);
    send(device, 201, 206, 0, true);
    assert.equal(clutchAt(207), false);
    send(device, 210, 215, 0, false);
    assert.equal(clutchAt(216), false);
  });

  it('passes on a silent device at once, and begins anew afterwards', () => {
    const device = open(100);
    const out = emptyHandSample();
    for (let ms = 0; ms < 300; ms += 20) send(device, ms, ms + 5, ms / 1000);
    assert.equal(device.sample(500 * MS, out), 'stale');
    assert.deepEqual([out.clutch, out.tracking], [false, false]);
    send(device, 600, 605, 3);
    device.sample(610 * MS, out);
    assert.equal(out.positionM[0], 3, 'not a line from the old place to the new one');
  });

  it('keeps nothing of another sender', () => {
    const device = open(100);
    const out = emptyHandSample();
    for (let ms = 0; ms < 300; ms += 20) send(device, ms, ms + 5, 1);
    const other = {
      positionM: [2, 1, 0],
      quatXyzw: [0, 0, 0, 1],
      gripper: 0,
      clutch: true,
      takenNs: 300 * MS,
    };
    const bytes = new TextEncoder().encode(JSON.stringify(other));
    const { stream } = device;
    device.ingest(bytes, bytes.length, 305 * MS, 2, 0);
    assert.notEqual(device.stream, stream);
    device.sample(310 * MS, out);
    assert.equal(out.positionM[0], 2);
  });

  it('holds at most its capacity of any stream of stamps', () => {
    const device = open(1e6);
    const out = emptyHandSample();
    for (let ms = 0; ms < 1000; ms++) send(device, ms, ms, ms / 1000);
    assert.equal(device.sample(1000 * MS, out), 'ok');
    assert.ok(Number.isFinite(out.positionM[0]!));
  });
});
