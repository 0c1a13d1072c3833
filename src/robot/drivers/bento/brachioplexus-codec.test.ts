import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  BRACHIOPLEXUS_MAX_BYTES,
  type BrachioplexusPacket,
  decodeBrachioplexus,
  emptyBrachioplexus,
  encodeBrachioplexus,
  PACKET,
  type PacketType,
} from './brachioplexus-codec.ts';

interface Vector {
  name: string;
  type: PacketType;
  hex: string;
  valid: boolean;
  decoded: {
    sceneIndex?: number;
    frameRate?: number;
    cam?: number[];
    limits?: Record<string, [number, number]>;
    joints?: { id: number; position?: number; velocity: number; state?: number }[];
  } | null;
}

const vectors = JSON.parse(readFileSync('test/data/brachioplexus.json', 'utf8')) as Vector[];
const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
const SIZES = [45, 25, 43, 4, 35, 23];

const inverted = (bytes: Uint8Array): number => 255 - (bytes.slice(2, -1).reduce((a, b) => a + b, 0) % 256);

function packetOf(vector: Vector): BrachioplexusPacket {
  const packet = emptyBrachioplexus(vector.type);
  const { sceneIndex = 0, frameRate = 0, cam = [], limits = {}, joints = [] } = vector.decoded!;
  packet.sceneIndex = sceneIndex;
  packet.frameRate = frameRate;
  packet.camera.set(cam);
  packet.limits.set(Object.values(limits).flat());
  joints.forEach(({ position = 0, velocity, state = 0 }, i) => {
    packet.positions[i] = position;
    packet.speeds[i] = velocity;
    packet.states[i] = state;
  });
  return packet;
}

function encoded(packet: BrachioplexusPacket): Uint8Array {
  const out = new Uint8Array(BRACHIOPLEXUS_MAX_BYTES).fill(0xee);
  return out.subarray(0, encodeBrachioplexus(packet, out));
}

const magnitude = fc.integer({ min: 0, max: 65_535 });
const signed = fc.integer({ min: -65_535, max: 65_535 });
const byte = fc.nat(255);
const many = <T>(arbitrary: fc.Arbitrary<T>, n: number) =>
  fc.array(arbitrary, { minLength: n, maxLength: n });

/** A packet whose unused fields are zero, as in an empty packet. */
const anyPacket = fc
  .record({
    type: fc.constantFrom(...Object.values(PACKET)),
    sceneIndex: byte,
    frameRate: byte,
    camera: many(signed, 6),
    limits: many(magnitude, 10),
    speeds: many(magnitude, 5),
    states: many(byte, 5),
    positions: many(signed, 5),
  })
  .map((fields) => {
    const packet = emptyBrachioplexus(fields.type);
    const { type } = fields;
    const isScene = type === PACKET.scene;
    if (isScene) Object.assign(packet, { sceneIndex: fields.sceneIndex, frameRate: fields.frameRate });
    if (isScene || type === PACKET.update) packet.limits.set(fields.limits);
    if (isScene || type === PACKET.update || type === PACKET.cameraPosition) packet.camera.set(fields.camera);
    if (type === PACKET.control || type === PACKET.feedback) packet.speeds.set(fields.speeds);
    if (type === PACKET.control) packet.states.set(fields.states);
    if (type === PACKET.feedback) packet.positions.set(fields.positions);
    return packet;
  });

describe('brachIOplexus vectors', () => {
  for (const vector of vectors)
    it(vector.name, () => {
      const bytes = bytesOf(vector.hex);
      const packet = emptyBrachioplexus();
      const rejection = decodeBrachioplexus(bytes, bytes.length, packet);
      assert.equal(rejection === null, vector.valid, String(rejection));
      if (!vector.valid) return;
      assert.deepEqual(packet, packetOf(vector));
      if (vector.name !== 'scene_doc_len40')
        assert.equal(Buffer.from(encoded(packetOf(vector))).toString('hex'), vector.hex);
    });

  it('give the rejection reason of invalid packets', () => {
    const rejections = vectors
      .filter(({ valid }) => !valid)
      .map(({ name, hex }) => [
        name,
        decodeBrachioplexus(bytesOf(hex), hex.length / 2, emptyBrachioplexus()),
      ]);
    assert.deepEqual(Object.fromEntries(rejections), {
      bad_checksum: 'bad-checksum',
      bad_header: 'bad-header',
      truncated: 'bad-size',
      short_but_checksummed: 'bad-size',
    });
  });
});

describe('brachIOplexus codec', () => {
  it('decodes what it encodes, over all values of all fields', () => {
    fc.assert(
      fc.property(anyPacket, (packet) => {
        const bytes = encoded(packet);
        assert.equal(bytes.length, SIZES[packet.type]);
        const again = emptyBrachioplexus();
        assert.equal(decodeBrachioplexus(bytes, bytes.length, again), null);
        assert.deepEqual(again, packet);
      }),
      { numRuns: 2000 },
    );
  });

  it('encodes what it decodes, byte for byte, if signs use the original’s encoding', () => {
    fc.assert(
      fc.property(anyPacket, (packet) => {
        const bytes = encoded(packet).slice();
        const again = emptyBrachioplexus();
        decodeBrachioplexus(bytes, bytes.length, again);
        assert.deepEqual(encoded(again), bytes);
      }),
    );
  });

  it('treats any non-zero sign byte as plus, as both ends do', () => {
    const bytes = encoded(emptyBrachioplexus(PACKET.cameraPosition)).slice();
    bytes[4] = 7;
    bytes[6] = 200;
    bytes[22] = inverted(bytes);
    const packet = emptyBrachioplexus();
    assert.equal(decodeBrachioplexus(bytes, bytes.length, packet), null);
    assert.equal(packet.camera[0], 7);
  });

  it('never throws and accepts only packets with valid header, size and checksum', () => {
    const start = fc.constantFrom([], [255], [255, 255], ...[0, 1, 2, 3, 4, 5, 6].map((t) => [255, 255, t]));
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 60 }), (first, rest) => {
        judge(Uint8Array.from([...first, ...rest]));
      }),
      { numRuns: 5000 },
    );
  });

  it('rejects packets with bytes changed, removed or added unless the checksum still matches', () => {
    const change = fc.record({ at: fc.nat(60), by: fc.integer({ min: 1, max: 255 }) });
    const cut = fc.integer({ min: -44, max: 20 });
    fc.assert(
      fc.property(anyPacket, fc.array(change, { maxLength: 3 }), cut, (packet, changes, more) => {
        const whole = encoded(packet);
        const length = Math.max(0, whole.length + more);
        const bytes = new Uint8Array(length);
        bytes.set(whole.subarray(0, length));
        for (const { at, by } of changes) if (at < length) bytes[at] = (bytes[at]! + by) & 255;
        judge(bytes);
      }),
      { numRuns: 5000 },
    );
  });

  it('always detects a single changed byte', () => {
    fc.assert(
      fc.property(anyPacket, fc.nat(44), fc.integer({ min: 1, max: 255 }), (packet, at, by) => {
        const bytes = encoded(packet).slice();
        if (at >= bytes.length) return;
        bytes[at] = (bytes[at]! + by) & 255;
        assert.notEqual(decodeBrachioplexus(bytes, bytes.length, emptyBrachioplexus()), null);
      }),
    );
  });

  it('rejects wrong lengths and joints even if the checksum matches', () => {
    const bytes = encoded(emptyBrachioplexus(PACKET.control)).slice();
    const changed = (at: number, value: number): string | null => {
      const copy = bytes.slice();
      copy[at] = value;
      copy[24] = inverted(copy);
      return decodeBrachioplexus(copy, copy.length, emptyBrachioplexus());
    };
    assert.equal(changed(3, 38), 'bad-length');
    assert.equal(changed(8, 0), 'bad-joint-id');
    assert.equal(changed(2, 6), 'unknown-type');
    assert.equal(decodeBrachioplexus(bytes, 60, emptyBrachioplexus()), 'short');
    assert.equal(decodeBrachioplexus(new Uint8Array(0), 0, emptyBrachioplexus()), 'short');
  });
});

/**
 * Asserts that only a valid header, known type, its size and checksum are accepted; otherwise `out` is
 * untouched.
 */
function judge(bytes: Uint8Array): void {
  const packet = emptyBrachioplexus();
  packet.limits.fill(4711);
  const before = structuredClone(packet);
  const rejection = decodeBrachioplexus(bytes, bytes.length, packet);
  if (rejection !== null) {
    assert.deepEqual(packet, before);
    return;
  }
  assert.deepEqual([bytes[0], bytes[1]], [255, 255]);
  assert.equal(bytes.length, SIZES[bytes[2]!]);
  assert.equal(bytes.at(-1), inverted(bytes));
}
