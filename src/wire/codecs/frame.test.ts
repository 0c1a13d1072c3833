import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { REASONS } from '../../core/counters.ts';
import { MAX_DATAGRAM_BYTES } from '../reactor.ts';
import { decodeCommand, emptyCommand, encodeCommand } from './command.ts';
import { decodeDesk, decodeHello, emptyDesk, encodeDesk, encodeHello } from './desk.ts';
import { frameBody, frameType, type MessageType, TYPES, writeFrame } from './frame.ts';
import { decodeReceipt, emptyReceipt, encodeReceipt } from './receipt.ts';
import { decodeState, emptyState, encodeState } from './state.ts';
import { decodeProbe, decodeProbeReply, emptyProbe, encodeProbe, encodeProbeReply } from './sync.ts';

const JOINTS = 4;
const KNOWN = new Set<string>(REASONS);
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
const areFinite = (values: ArrayLike<number>): boolean => Array.from(values).every(Number.isFinite);
const orUnknown = (value: number): boolean => Number.isNaN(value) || Number.isFinite(value);

interface Codec {
  /** A valid datagram. */
  encode(out: Uint8Array): number;
  /** The reason, or null after checking that the decoded message is complete. */
  decode(bytes: Uint8Array, length: number): string | null;
}

/** Every decoder, with what its callers rely on when it returns null. */
const CODECS: Record<string, Codec> = {
  command: {
    encode: (out) => encodeCommand({ ...emptyCommand(JOINTS), session: 5, seq: 9, sampledRobotNs: 1e9 }, out),
    decode(bytes, length) {
      const command = emptyCommand(JOINTS);
      const reason = decodeCommand(bytes, length, command);
      if (reason !== null) return reason;
      assert.ok([command.session, command.seq, command.epoch, command.engagement].every(isCount));
      assert.ok(isCount(command.syncEpoch));
      assert.ok(Number.isFinite(command.sampledOperatorNs) && orUnknown(command.sampledRobotNs));
      assert.ok(areFinite(command.positionsRad) && command.gripper >= 0 && command.gripper <= 1);
      assert.equal(typeof command.tracking, 'boolean');
      return null;
    },
  },
  receipt: {
    encode: (out) => encodeReceipt({ ...emptyReceipt(), session: 5, seq: 9, receiveNs: 1e9 }, out),
    decode(bytes, length) {
      const receipt = emptyReceipt();
      const reason = decodeReceipt(bytes, length, receipt);
      if (reason !== null) return reason;
      assert.ok([receipt.session, receipt.seq, receipt.queueDepth].every(isCount));
      assert.ok(Number.isFinite(receipt.receiveNs));
      assert.ok([receipt.kernelNs, receipt.dueNs, receipt.releasedNs, receipt.appliedNs].every(orUnknown));
      return null;
    },
  },
  state: {
    encode: (out) => encodeState(3, 5, emptyState(JOINTS), out),
    decode(bytes, length) {
      const state = emptyState(JOINTS);
      const origin = { boot: 0, session: 0 };
      const reason = decodeState(bytes, length, state, origin);
      if (reason !== null) return reason;
      assert.ok([origin.boot, origin.session, state.epoch, state.endedEngagement].every(isCount));
      assert.ok([state.appliedSeq, state.ackRequest].every(isCount));
      assert.ok(areFinite([state.robotNs, state.gripper]));
      // No position is known before the first reading.
      assert.ok(areFinite(state.positionsRad) || state.positionsRad.every(Number.isNaN));
      assert.ok([state.velocitiesRadS, state.targetRad].every(areFinite));
      return null;
    },
  },
  desk: {
    encode: (out) => encodeDesk({ ...emptyDesk(), session: 5, request: 1 }, out),
    decode(bytes, length) {
      const desk = emptyDesk();
      const reason = decodeDesk(bytes, length, desk);
      if (reason === null) assert.ok([desk.session, desk.request, desk.epoch].every(isCount));
      return reason;
    },
  },
  probe: {
    encode: (out) => encodeProbe({ ...emptyProbe(), id: 4, t0: 1e9 }, out),
    decode(bytes, length) {
      const probe = emptyProbe();
      const reason = decodeProbe(bytes, length, probe);
      if (reason === null) assert.ok(isCount(probe.id) && Number.isFinite(probe.t0));
      return reason;
    },
  },
  probeReply: {
    encode: (out) => encodeProbeReply({ ...emptyProbe(), id: 4, boot: 3, t0: 1e9, t1: 2e9, t2: 3e9 }, out),
    decode(bytes, length) {
      const probe = emptyProbe();
      const reason = decodeProbeReply(bytes, length, probe);
      if (reason !== null) return reason;
      assert.ok(isCount(probe.id) && isCount(probe.boot) && areFinite([probe.t0, probe.t1, probe.t2]));
      return null;
    },
  },
  hello: {
    encode: (out) => encodeHello(5, out),
    decode(bytes, length) {
      const session = decodeHello(bytes, length);
      if (Number.isNaN(session)) return 'malformed';
      assert.ok(isCount(session));
      return null;
    },
  },
};

/** Mutations that stay close to a valid datagram: bytes, cuts, repeated and joined parts. */
const mutation = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), at: fc.nat(400), byte: fc.nat(255) }),
  fc.record({ kind: fc.constant('cut' as const), at: fc.nat(400), byte: fc.nat(255) }),
  fc.record({ kind: fc.constant('remove' as const), at: fc.nat(400), byte: fc.nat(40) }),
  fc.record({ kind: fc.constant('repeat' as const), at: fc.nat(400), byte: fc.nat(40) }),
  fc.record({ kind: fc.constant('digit' as const), at: fc.nat(400), byte: fc.nat(13) }),
);
type Mutation = typeof mutation extends fc.Arbitrary<infer M> ? M : never;

function mutate(bytes: number[], { kind, at, byte }: Mutation): number[] {
  const here = 4 + (at % Math.max(1, bytes.length - 4));
  if (kind === 'cut') return bytes.slice(0, here);
  if (kind === 'remove') return [...bytes.slice(0, here), ...bytes.slice(here + byte)];
  if (kind === 'repeat') return [...bytes.slice(0, here + byte), ...bytes.slice(here)];
  // Digits, signs and exponents change the numbers.
  const value = kind === 'digit' ? bytesOf('0123456789-.e,')[byte]! : byte;
  return bytes.map((old, i) => (i === here ? value : old));
}

describe('frame', () => {
  it('is identified by its tag alone', () => {
    for (const [name, code] of Object.entries(TYPES)) {
      const out = new Uint8Array(64);
      const length = writeFrame(name as MessageType, {}, out);
      assert.equal(frameType(out, length), name);
      assert.equal(out[3], code);
      assert.deepEqual([...out.subarray(0, 3)], [...bytesOf('FH1')]);
    }
    assert.equal(new Set(Object.values(TYPES)).size, Object.keys(TYPES).length);
  });

  it('is unknown when from another program, version or type', () => {
    for (const text of [
      'fh1c{}',
      'FX1c{}',
      'FH2c{}',
      'FH0c{}',
      'FHac{}',
      'FH1C{}',
      'FH1z{}',
      'FH1\0{}',
      'RCTP{}',
    ])
      assert.equal(frameType(bytesOf(text), text.length), null, text);
  });

  it('is unknown when shorter than a tag and an empty object, whatever follows in the buffer', () => {
    const bytes = bytesOf('FH1c{}');
    for (let length = 0; length < bytes.length; length++) assert.equal(frameType(bytes, length), null);
    assert.equal(frameType(bytes, bytes.length), 'command');
  });

  it('has a known type or none, for any four bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 32 }), (bytes) => {
        const type = frameType(bytes, bytes.length);
        assert.ok(type === null || (type in TYPES && bytes[0] === 0x46));
      }),
    );
  });

  it('returns its body, or null when it is not an object', () => {
    const out = new Uint8Array(MAX_DATAGRAM_BYTES);
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 5 }), (body) => {
        const length = writeFrame('state', body, out);
        if (length === 0) return;
        assert.deepEqual(frameBody(out, length), JSON.parse(JSON.stringify(body)));
      }),
    );
    for (const text of ['[]', 'null', '1', '"x"', '', '{', 'nul'])
      assert.equal(frameBody(bytesOf(`FH1c${text}`), 4 + text.length), null);
  });

  it('is not written at all when it does not fit', () => {
    const text = 'é'.repeat(30);
    const needed = 4 + new TextEncoder().encode(JSON.stringify({ text })).length;
    assert.equal(writeFrame('state', { text }, new Uint8Array(needed)), needed);
    for (const room of [4, 5, needed - 2, needed - 1])
      assert.equal(writeFrame('state', { text }, new Uint8Array(room)), 0);
  });
});

for (const [name, codec] of Object.entries(CODECS)) {
  describe(`decoding a ${name}`, () => {
    const valid = new Uint8Array(MAX_DATAGRAM_BYTES);
    const length = codec.encode(valid);
    const check = (bytes: Uint8Array): string | null => {
      const before = bytes.slice();
      const reason = codec.decode(bytes, bytes.length);
      assert.ok(reason === null || KNOWN.has(reason), String(reason));
      assert.deepEqual(bytes, before, 'a decoder does not write to its input');
      return reason;
    };

    it('accepts its own valid datagram', () => {
      assert.equal(check(valid.slice(0, length)), null);
    });

    it('never throws on random bytes', () => {
      fc.assert(fc.property(fc.uint8Array({ maxLength: MAX_DATAGRAM_BYTES }), (bytes) => void check(bytes)));
      fc.assert(fc.property(fc.json({ maxDepth: 3 }), (json) => void check(bytesOf(`FH1x${json}`))));
    });

    it('returns a reason or a valid message for a mutated datagram', () => {
      let rejectedCount = 0;
      fc.assert(
        fc.property(fc.array(mutation, { minLength: 1, maxLength: 3 }), (mutations) => {
          const bytes = Uint8Array.from(mutations.reduce(mutate, [...valid.subarray(0, length)]));
          if (check(bytes) !== null) rejectedCount++;
        }),
        { numRuns: 500 },
      );
      assert.ok(rejectedCount > 50, `${rejectedCount} of 500 rejected`);
    });

    it('returns a reason or a valid message with any field replaced by any JSON', () => {
      const body = frameBody(valid, length)!;
      fc.assert(
        fc.property(fc.constantFrom(...Object.keys(body)), fc.json({ maxDepth: 2 }), (field, json) => {
          const text = JSON.stringify({ ...body, [field]: '§' }).replace('"§"', () => json);
          check(bytesOf(`FH1x${text}`));
        }),
        { numRuns: 300 },
      );
    });

    it('survives deep nesting and numbers out of range', () => {
      const room = MAX_DATAGRAM_BYTES - 4;
      assert.equal(check(bytesOf(`FH1x${'['.repeat(room)}`)), name === 'hello' ? 'malformed' : 'bad-json');
      const nested = `{"q":${'['.repeat(600)}${']'.repeat(600)}}`;
      assert.notEqual(check(bytesOf(`FH1x${nested}`)), null);
      for (const field of Object.keys(frameBody(valid, length)!))
        assert.notEqual(check(bytesOf(`FH1x{"${field}":1e999}`)), null);
    });
  });
}
