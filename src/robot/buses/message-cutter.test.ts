import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MessageCutter } from './message-cutter.ts';

const MAX_BYTES = 64;
const cutter = () => new MessageCutter(3, MAX_BYTES, (bytes, at) => bytes.readUInt16BE(at));

function message(payload: Uint8Array): Buffer {
  const bytes = Buffer.concat([Buffer.of(0, 0, 7), payload]);
  bytes.writeUInt16BE(bytes.length, 0);
  return bytes;
}

/** Cuts `bytes` at the given offsets, in a buffer that is overwritten after each push. */
function pushParts(
  to: MessageCutter,
  bytes: Buffer,
  cuts: readonly number[],
): { whole: boolean; seen: string[] } {
  const seen: string[] = [];
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  let whole = true;
  for (let i = 1; i < places.length && whole; i++) {
    const part = Buffer.from(bytes.subarray(places[i - 1], places[i]));
    whole = to.push(part, (found) => {
      seen.push(found.toString('hex'));
      return true;
    });
    part.fill(0xee);
  }
  return { whole, seen };
}

const payloads = fc.array(fc.uint8Array({ maxLength: MAX_BYTES - 3 }), { maxLength: 12 });
const cuts = fc.array(fc.nat(2000), { maxLength: 20 });

describe('message cutter', () => {
  it('finds the same messages however the stream is split and joined', () => {
    fc.assert(
      fc.property(payloads, cuts, (parts, places) => {
        const messages = parts.map(message);
        const { whole, seen } = pushParts(cutter(), Buffer.concat(messages), places);
        assert.ok(whole);
        assert.deepEqual(
          seen,
          messages.map((bytes) => bytes.toString('hex')),
        );
      }),
    );
  });

  it('rejects a length out of bounds, after delivering the messages before it', () => {
    fc.assert(
      fc.property(payloads, fc.constantFrom(0, 2, MAX_BYTES + 1, 65535), cuts, (parts, length, places) => {
        const messages = parts.map(message);
        const bad = Buffer.of(length >> 8, length & 0xff, 7, 1, 2, 3);
        const { whole, seen } = pushParts(cutter(), Buffer.concat([...messages, bad]), places);
        assert.ok(!whole);
        assert.equal(seen.length, messages.length);
      }),
    );
  });

  it('never throws on any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), cuts, (bytes, places) => {
        pushParts(cutter(), Buffer.from(bytes), places);
      }),
    );
  });

  it('stops when `take` returns false, and starts afresh after a restart', () => {
    const bytes = Buffer.concat([message(Buffer.of(1)), message(Buffer.of(2)), Buffer.of(0)]);
    const own = cutter();
    let count = 0;
    own.push(bytes, () => {
      count++;
      return false;
    });
    assert.equal(count, 1);
    own.push(Buffer.of(0, 9), () => true);
    own.restart();
    assert.deepEqual(pushParts(own, message(Buffer.of(5)), []).seen, ['00040705']);
  });
});
