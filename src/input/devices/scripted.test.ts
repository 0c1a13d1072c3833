import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { emptyHandSample, type HandSample } from '../../messages/hand-sample.ts';
import scripted from './scripted.ts';

const config = scripted.config.parse({});
const START_NS = 5e12;

function sampleAt(atNs: number, settings = config): HandSample {
  const sample = emptyHandSample();
  assert.equal(scripted.open(settings, START_NS).sample(atNs, sample), 'ok');
  return sample;
}

describe('scripted input', () => {
  it('starts in the middle, level and open, with the clutch closed', () => {
    const sample = sampleAt(START_NS);
    assert.deepEqual([...sample.positionM], [0, 1.2, -0.3]);
    assert.deepEqual([...sample.quatXyzw], [0, 0, 0, 1]);
    assert.deepEqual([sample.gripper, sample.clutch, sample.tracking, sample.estop], [0, true, true, false]);
    assert.equal(sample.takenNs, START_NS);
    assert.equal(scripted.automatic, true);
  });

  it('draws one figure eight per period, inside its width and height', () => {
    const seconds = fc.double({ min: 0, max: 1000, noNaN: true });
    fc.assert(
      fc.property(seconds, (s) => {
        const sample = sampleAt(START_NS + s * 1e9);
        const [x, y, z] = sample.positionM;
        assert.ok(Math.abs(x!) <= config.widthM && Math.abs(y! - 1.2) <= config.heightM && z === -0.3);
        assert.ok(Math.abs(Math.hypot(...sample.quatXyzw) - 1) < 1e-12);
        assert.ok(sample.gripper >= 0 && sample.gripper <= 1);
        const later = sampleAt(START_NS + (s + config.periodS) * 1e9);
        assert.ok(Math.abs(later.positionM[0]! - x!) < 1e-6 && Math.abs(later.positionM[1]! - y!) < 1e-6);
      }),
    );
  });

  it('moves smoothly, no faster than a hand', () => {
    let last = sampleAt(START_NS);
    for (let ms = 10; ms <= 16_000; ms += 10) {
      const next = sampleAt(START_NS + ms * 1e6);
      const moved = Math.hypot(...next.positionM.map((m, i) => m - last.positionM[i]!));
      assert.ok(moved < 0.0015, `${moved} m in 10 ms`);
      last = next;
    }
  });

  it('reaches its width, its height and a closed gripper', () => {
    const quarter = sampleAt(START_NS + (config.periodS / 4) * 1e9);
    assert.ok(Math.abs(quarter.positionM[0]! - config.widthM) < 1e-9);
    const eighth = sampleAt(START_NS + (config.periodS / 8) * 1e9);
    assert.ok(Math.abs(eighth.positionM[1]! - 1.2 - config.heightM) < 1e-9);
    assert.ok(Math.abs(sampleAt(START_NS + (config.periodS / 2) * 1e9).gripper - 1) < 1e-9);
  });

  it('starts over on request', () => {
    const device = scripted.open(config, START_NS);
    device.restart!(START_NS + 3.3e9);
    const sample = emptyHandSample();
    device.sample(START_NS + 3.3e9, sample);
    assert.deepEqual([...sample.positionM], [0, 1.2, -0.3]);
    assert.deepEqual([...sample.quatXyzw], [0, 0, 0, 1]);
  });

  it('accepts no bytes', () => {
    assert.equal(scripted.open(config, 0).ingest(new Uint8Array(3), 3, 0, 0, 0), 'unknown-source');
  });
});
