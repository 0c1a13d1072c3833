import assert from 'node:assert/strict';
import { REASONS } from '../core/counters.ts';
import type { InputDevice } from '../input/device.ts';
import { emptyHandSample, type HandSample, type SampleStatus } from '../messages/hand-sample.ts';
import { peerOf } from '../wire/reactor.ts';

/** When the device is opened, on the suite's clock. */
export const START_NS = 30e9;
export const MS = 1e6;
export const SENDER = peerOf('192.0.2.7', 50_000);
const KNOWN = new Set<string>(REASONS);

/** A sample filled with garbage. */
function spoiltSample(): HandSample {
  const sample = emptyHandSample();
  sample.takenNs = Number.NaN;
  sample.positionM.fill(Number.NaN);
  sample.quatXyzw.fill(Number.NaN);
  sample.gripper = Number.NaN;
  return sample;
}

/** Checks everything that readers of a sample rely on. */
export function checked(device: InputDevice, nowNs: number): { status: SampleStatus; sample: HandSample } {
  const sample = spoiltSample();
  const { positionM, quatXyzw } = sample;
  const status = device.sample(nowNs, sample);
  assert.ok(['ok', 'stale', 'none'].includes(status));
  assert.equal(sample.positionM, positionM, 'the caller keeps its buffers');
  assert.equal(sample.quatXyzw, quatXyzw);
  if (status !== 'ok')
    assert.deepEqual([sample.tracking, sample.clutch], [false, false], 'no hand, no clutch');
  if (status === 'ok') {
    assert.ok([sample.takenNs, ...positionM, ...quatXyzw].every(Number.isFinite));
    assert.ok(sample.takenNs <= nowNs);
    assert.ok(Math.abs(Math.hypot(...quatXyzw) - 1) < 1e-9);
    assert.ok(sample.gripper >= 0 && sample.gripper <= 1);
  }
  return { status, sample };
}

/** Feeds bytes from a longer, dirty buffer, and overwrites them afterwards. */
export function feed(
  device: InputDevice,
  bytes: Uint8Array,
  receivedNs: number,
  from = SENDER,
  socket = 0,
): string | null {
  const buffer = new Uint8Array(bytes.length + 64).fill(0x7d);
  buffer.set(bytes);
  const reason = device.ingest(buffer, bytes.length, receivedNs, from, socket);
  buffer.fill(0xff);
  assert.ok(reason === null || KNOWN.has(reason), String(reason));
  return reason;
}
