import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { pluginConfig } from '../app/registry.ts';
import { TeleopError } from '../core/errors.ts';
import { emptyQuality, type InputDevice, type InputPlugin } from '../input/device.ts';
import { emptyHandSample } from '../messages/hand-sample.ts';
import { peerOf } from '../wire/reactor.ts';
import { garbagePerCall } from './allocation.ts';
import { checked, feed, MS, SENDER, START_NS } from './input-bench.ts';
import { describeEstop } from './input-estop.ts';
import { describeStamps } from './input-stamps.ts';

export interface InputFixture {
  /** What its sender sends at an instant: a hand with the clutch closed. Only an automatic input has none. */
  message?: (nowNs: number) => Uint8Array;
  /** The same hand with the clutch open. Absent: the protocol has no clutch. */
  released?: (nowNs: number) => Uint8Array;
  /** The same hand with a request to stop the robot. Absent: no message requests one. */
  estop?: (nowNs: number) => Uint8Array;
  /** Settings, for an input that cannot be tested with its defaults. */
  options?: Record<string, unknown>;
}

const LONG_NS = 10_000 * MS;
/** Boxed numbers that cross the call; an array or an object per call is more. */
const MOST_BYTES = 96;
const STRANGER = peerOf('192.0.2.8', 50_000);

/** NaN and infinity as float32 and float64 of both byte orders, and as text: single random bytes hardly ever make them. */
const NO_NUMBERS = [
  [0xff, 0xff, 0xff, 0xff],
  [0, 0, 0x80, 0x7f],
  [0x7f, 0x80, 0, 0],
  [0, 0, 0, 0, 0, 0, 0xf0, 0x7f],
  [0x7f, 0xf0, 0, 0, 0, 0, 0, 0],
  [...Buffer.from('NaN')],
  [...Buffer.from('1e999')],
];

const mutation = fc.record({
  at: fc.nat(2000),
  bytes: fc.oneof(
    fc.nat(255).map((byte) => [byte]),
    fc.constantFrom(...NO_NUMBERS),
  ),
  cut: fc.boolean(),
});

type Send = (nowNs: number) => Uint8Array;

function describeMessages(open: () => InputDevice, message: Send, released: Send | undefined): void {
  it('is stale after a silence, and ok with the next message', () => {
    const device = open();
    feed(device, message(START_NS), START_NS);
    const { sample, status } = checked(device, START_NS + MS);
    assert.deepEqual([status, sample.tracking, sample.clutch], ['ok', true, true]);
    assert.equal(checked(device, START_NS + LONG_NS).status, 'stale');
    feed(device, message(START_NS + LONG_NS), START_NS + LONG_NS);
    assert.equal(checked(device, START_NS + LONG_NS).status, 'ok');
  });

  it('accepts a mutated message completely or not at all', () => {
    const nowNs = START_NS + MS;
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 4 }), (mutations) => {
        const device = open();
        let bytes = message(nowNs);
        for (const { at, bytes: put, cut } of mutations) {
          const here = at % Math.max(1, bytes.length);
          if (cut) bytes = bytes.slice(0, here);
          else bytes.set(put.slice(0, bytes.length - here), here);
        }
        feed(device, message(START_NS), START_NS);
        const before = checked(device, nowNs).sample;
        const reason = feed(device, bytes, nowNs);
        const after = checked(device, nowNs);
        assert.equal(after.status, 'ok');
        if (reason !== null) assert.deepEqual(after.sample, before, 'rejected bytes change nothing');
      }),
      { numRuns: 1000 },
    );
  });

  const hasClutch = released !== undefined;
  it('closes the clutch by a message alone', { skip: !hasClutch && 'no message opens it' }, () => {
    const device = open();
    let nowNs = START_NS;
    for (const isClosed of [false, true, false])
      for (let i = 0; i < 20; i++, nowNs += 7 * MS) {
        const bytes = isClosed ? message(nowNs) : released!(nowNs);
        if (i % 2 === 0) assert.equal(feed(device, bytes, nowNs), null);
        assert.equal(checked(device, nowNs).sample.clutch, isClosed);
      }
    // What was before a silence does not count after it.
    feed(device, message(nowNs), nowNs);
    nowNs += LONG_NS;
    assert.equal(checked(device, nowNs).sample.clutch, false);
    feed(device, released!(nowNs), nowNs);
    assert.equal(checked(device, nowNs).sample.clutch, false);
  });

  it('allocates nothing in a sample', () => {
    const device = open();
    feed(device, message(START_NS), START_NS);
    const sample = emptyHandSample();
    let nowNs = START_NS;
    const bytes = garbagePerCall(() => {
      nowNs += 1000;
      device.sample(nowNs, sample);
    }, MOST_BYTES);
    assert.ok(bytes <= MOST_BYTES, `${Math.round(bytes)} bytes of garbage per sample`);
  });

  it('requests no e-stop unless the message does', () => {
    const device = open();
    feed(device, message(START_NS), START_NS);
    assert.ok(device.estop !== true && !checked(device, START_NS).sample.estop);
  });
}

/** A device with sockets receives from anyone who can reach them. */
function describeSockets(
  name: string,
  plugin: InputPlugin<unknown>,
  options: Record<string, unknown>,
  open: () => InputDevice,
  message: (nowNs: number) => Uint8Array,
): void {
  const socketsWith = (values: Record<string, unknown>) =>
    plugin.sockets?.(pluginConfig('input', name, plugin, { ...options, ...values })) ?? [];

  it('listens on loopback unless the rig sets another host', () => {
    for (const { host } of socketsWith({})) assert.match(host, /^127\./);
  });

  it('has ZeroMQ listen on loopback too, and feeds only declared sockets', () => {
    const config = pluginConfig('input', name, plugin, options);
    const count = socketsWith({}).length;
    for (const { host, bind, socket, portKey } of plugin.relays?.(config) ?? []) {
      if (bind) assert.match(host, /^127\./);
      assert.ok(socket === null || (socket >= 0 && socket < count));
      assert.ok(portKey.startsWith(`operator.inputs.${name}.`));
    }
  });

  it('names each socket and the setting of its port', () => {
    const sockets = socketsWith({});
    assert.equal(new Set(sockets.map((socket) => socket.name)).size, sockets.length);
    sockets.forEach(({ portKey, port }, i) => {
      const [, key = ''] = portKey.split(`operator.inputs.${name}.`);
      const chosen = port === 45_678 ? 45_679 : 45_678;
      assert.equal(socketsWith({ [key]: chosen })[i]?.port, chosen, portKey);
    });
  });

  it('accepts one sender at a time, and the next after a silence', () => {
    const device = open();
    const say = (atNs: number, from: number) => feed(device, message(atNs), atNs, from);
    assert.equal(say(START_NS, SENDER), null);
    assert.equal(say(START_NS + MS, STRANGER), 'unknown-source');
    assert.equal(device.estop ?? false, false);
    assert.equal(say(START_NS + 2 * MS, SENDER), null);
    const before = device.stream ?? 0;
    assert.equal(say(START_NS + LONG_NS, STRANGER), null);
    assert.ok((device.stream ?? 0) > before, 'another sender is another stream');
    assert.equal(say(START_NS + LONG_NS + MS, SENDER), 'unknown-source');
  });

  it('is neither taken over nor kept alive by garbage', () => {
    const foreign = fc.oneof(fc.uint8Array({ maxLength: 3 }), fc.uint8Array({ maxLength: 200 }));
    fc.assert(
      fc.property(foreign, fc.nat(3), (bytes, socket) => {
        const device = open();
        const reason = feed(device, bytes, START_NS, STRANGER, socket);
        if (bytes.length <= 3) assert.notEqual(reason, null);
        if (reason === null) return;
        assert.equal(device.estop ?? false, false);
        assert.equal(feed(device, message(START_NS), START_NS, SENDER), null);
      }),
      { numRuns: 500 },
    );
  });

  const silent = open().quality === undefined && 'does not measure its sender';
  it('reports its reception quality', { skip: silent }, () => {
    const device = open();
    for (let i = 0; i <= 100; i++) {
      const atNs = START_NS + i * 20 * MS;
      feed(device, message(atNs), atNs);
    }
    const quality = { ...emptyQuality(), from: Number.NaN, rateHz: Number.NaN };
    device.quality?.(START_NS + 2000 * MS, quality);
    assert.ok(Math.abs(quality.rateHz - 50) < 0.5, `${quality.rateHz} Hz`);
    assert.ok(quality.jitterNs < 0.1 * MS);
    assert.deepEqual([quality.from, quality.received, quality.lost], [SENDER, 101, 0]);
    device.quality?.(START_NS + LONG_NS, quality);
    assert.deepEqual([quality.from, quality.rateHz], [0, 0]);
  });
}

/** Registers the tests that every input device passes, with `node:test`. */
export function testInput(name: string, plugin: InputPlugin<unknown>, fixture: InputFixture = {}): void {
  const { options = {}, message, released, estop } = fixture;
  describe(`input ${name}`, () => {
    const open = () => plugin.open(pluginConfig('input', name, plugin, options), START_NS);

    it('has a description', () => {
      assert.ok(plugin.about.length > 10, '`about` says in more than ten letters what it drives');
      assert.ok(plugin.automatic || message !== undefined, 'give the suite a message of its sender');
    });

    it('rejects unknown settings', () => {
      assert.throws(
        () => pluginConfig('input', name, plugin, { ...options, noSuchSetting: 1 }),
        (error) => error instanceof TeleopError && error.code === 'bad-config',
      );
    });

    it('has no sample before the first message, unless it is automatic', () => {
      const { status, sample } = checked(open(), START_NS);
      assert.equal(status, plugin.automatic ? 'ok' : 'none');
      if (!plugin.automatic) assert.deepEqual([sample.clutch, sample.estop], [false, false]);
    });

    it('fills the caller’s buffers and keeps no reference to them', () => {
      const device = open();
      if (message) assert.equal(feed(device, message(START_NS), START_NS), null);
      const first = checked(device, START_NS + MS);
      assert.equal(first.status, 'ok');
      const copy = structuredClone(first.sample);
      first.sample.positionM.fill(Number.NaN);
      first.sample.quatXyzw.fill(Number.NaN);
      assert.deepEqual(checked(device, START_NS + MS).sample, copy);
    });

    // A device without a message is automatic: it is never silent and accepts nothing.
    if (message !== undefined) {
      describeMessages(open, message, released);
      describeStamps(open, message);
      describeEstop(open, message, estop);
    }
    if (message !== undefined && plugin.sockets !== undefined)
      describeSockets(name, plugin, options, open, message);

    it('never throws on random bytes and never produces an invalid sample', () => {
      const device = open();
      let nowNs = START_NS;
      const some = fc.oneof(
        fc.uint8Array({ maxLength: 1500 }),
        fc.json().map((json) => new TextEncoder().encode(json)),
      );
      fc.assert(
        fc.property(some, fc.constantFrom(0, SENDER, STRANGER), fc.nat(9), (bytes, from, socket) => {
          nowNs += MS;
          feed(device, bytes, nowNs, from, socket);
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
          if (message && i % 7 === 0) feed(device, message(nowNs), nowNs);
          return structuredClone(checked(device, nowNs));
        });
      };
      assert.deepEqual(replay(), replay());
    });
  });
}
