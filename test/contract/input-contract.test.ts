import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { loadPlugin, pluginConfig, pluginNames } from '../../src/app/registry.ts';
import { REASONS } from '../../src/core/counters.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { emptyHandSample, type HandSample, type SampleStatus } from '../../src/core/messages.ts';
import type { InputDevice, InputPlugin } from '../../src/input/device.ts';

const text = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

/** A message that each device takes as a hand with the clutch closed. Every device with a person behind it has one. */
const MESSAGES: Record<string, Uint8Array> = {
  page: text({ positionM: [0.1, 1.2, -0.3], quatXyzw: [0, 0, 0.6, 0.8], gripper: 0.25, clutch: true }),
};
/** Settings under which a device can be opened here, where its defaults are not enough. */
const OPTIONS: Record<string, Record<string, unknown>> = {};
/** Devices that cannot be opened here, each with the reason. */
const SKIP: Record<string, string> = {};

const START_NS = 30e9;
const MS = 1e6;
const LONG_NS = 10_000 * MS;
const KNOWN = new Set<string>(REASONS);

/** A sample whose every number is rubbish before it is filled. */
function spoiltSample(): HandSample {
  const sample = emptyHandSample();
  sample.takenNs = Number.NaN;
  sample.positionM.fill(Number.NaN);
  sample.quatXyzw.fill(Number.NaN);
  sample.gripper = Number.NaN;
  return sample;
}

/** What every reader of a sample relies on. */
function checked(device: InputDevice, nowNs: number): { status: SampleStatus; sample: HandSample } {
  const sample = spoiltSample();
  const { positionM, quatXyzw } = sample;
  const status = device.sample(nowNs, sample);
  assert.ok(['ok', 'stale', 'none'].includes(status));
  assert.equal(sample.positionM, positionM, 'the caller keeps its buffers');
  assert.equal(sample.quatXyzw, quatXyzw);
  if (status !== 'ok') assert.equal(sample.tracking, false);
  if (status === 'ok') {
    assert.ok([sample.takenNs, ...positionM, ...quatXyzw].every(Number.isFinite));
    assert.ok(sample.takenNs <= nowNs);
    assert.ok(Math.abs(Math.hypot(...quatXyzw) - 1) < 1e-9);
    assert.ok(sample.gripper >= 0 && sample.gripper <= 1);
  }
  return { status, sample };
}

/** Feeds bytes out of a longer, dirty buffer, and overwrites them afterwards. */
function feed(device: InputDevice, bytes: Uint8Array, receivedNs: number): string | null {
  const buffer = new Uint8Array(bytes.length + 64).fill(0x7d);
  buffer.set(bytes);
  const reason = device.ingest(buffer, bytes.length, receivedNs);
  buffer.fill(0xff);
  assert.ok(reason === null || KNOWN.has(reason), String(reason));
  return reason;
}

const mutation = fc.record({ at: fc.nat(2000), byte: fc.nat(255), cut: fc.boolean() });

function describeMessages(open: () => InputDevice, message: Uint8Array): void {
  it('is stale after a silence, and back with the next message', () => {
    const device = open();
    feed(device, message, START_NS);
    const { sample, status } = checked(device, START_NS + MS);
    assert.deepEqual([status, sample.tracking, sample.clutch], ['ok', true, true]);
    assert.equal(checked(device, START_NS + LONG_NS).status, 'stale');
    feed(device, message, START_NS + LONG_NS);
    assert.equal(checked(device, START_NS + LONG_NS).status, 'ok');
  });

  it('takes a mutated message whole or not at all', () => {
    const device = open();
    let nowNs = START_NS;
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 4 }), (mutations) => {
        nowNs += MS;
        let bytes = message.slice();
        for (const { at, byte, cut } of mutations) {
          const here = at % Math.max(1, bytes.length);
          if (cut) bytes = bytes.slice(0, here);
          else bytes[here] = byte;
        }
        feed(device, message, nowNs);
        const before = checked(device, nowNs).sample;
        const reason = feed(device, bytes, nowNs);
        const after = checked(device, nowNs);
        assert.equal(after.status, 'ok');
        if (reason !== null) assert.deepEqual(after.sample, before, 'refused bytes change nothing');
      }),
      { numRuns: 1000 },
    );
  });
}

for (const name of pluginNames('input')) {
  describe(`input ${name}`, { skip: SKIP[name] ?? false }, async () => {
    const plugin: InputPlugin<unknown> = await loadPlugin('input', name);
    const options = OPTIONS[name] ?? {};
    const open = () => plugin.open(pluginConfig('input', name, plugin, options), START_NS);
    const message = MESSAGES[name];

    it('says what it is', () => {
      assert.ok(plugin.about.length > 10);
      assert.ok(plugin.automatic || message !== undefined, `add a message of ${name} to this suite`);
    });

    it('refuses settings that it does not know', () => {
      assert.throws(
        () => pluginConfig('input', name, plugin, { ...options, noSuchSetting: 1 }),
        (error) => error instanceof TeleopError && error.code === 'bad-config',
      );
    });

    it('has nothing before anything came, unless it is automatic', () => {
      const { status, sample } = checked(open(), START_NS);
      assert.equal(status, plugin.automatic ? 'ok' : 'none');
      if (!plugin.automatic) assert.deepEqual([sample.clutch, sample.estop], [false, false]);
    });

    it('fills the caller’s buffers and keeps no reference to them', () => {
      const device = open();
      if (message) assert.equal(feed(device, message, START_NS), null);
      const first = checked(device, START_NS + MS);
      assert.equal(first.status, 'ok');
      const copy = structuredClone(first.sample);
      first.sample.positionM.fill(Number.NaN);
      first.sample.quatXyzw.fill(Number.NaN);
      assert.deepEqual(checked(device, START_NS + MS).sample, copy);
    });

    // A device without a message is automatic: it is never silent and takes nothing.
    if (message !== undefined) describeMessages(open, message);

    it('never throws and never makes an impossible sample of random bytes', () => {
      const device = open();
      let nowNs = START_NS;
      const some = fc.oneof(
        fc.uint8Array({ maxLength: 1500 }),
        fc.json().map((json) => new TextEncoder().encode(json)),
      );
      fc.assert(
        fc.property(some, (bytes) => {
          nowNs += MS;
          feed(device, bytes, nowNs);
          checked(device, nowNs);
        }),
        { numRuns: 500 },
      );
    });

    it('gives the same samples for the same bytes at the same times', () => {
      const replay = () => {
        const device = open();
        return Array.from({ length: 50 }, (_, i) => {
          const nowNs = START_NS + i * 10 * MS;
          if (message && i % 7 === 0) feed(device, message, nowNs);
          return structuredClone(checked(device, nowNs));
        });
      };
      assert.deepEqual(replay(), replay());
    });
  });
}
