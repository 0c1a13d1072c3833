import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { UrcapReplies, type UrcapReply } from './urcap-replies.ts';

const text = ({ ok, name, value }: UrcapReply): string =>
  name === '' ? (ok ? 'ack' : '?') : `${name} ${value}`;

describe('replies of the URCap’s socket', () => {
  it('are the same however their bytes arrive', () => {
    const reply = fc.oneof(
      fc.constant('ack'),
      fc.constant('?'),
      fc.tuple(fc.constantFrom('POS', 'STA', 'FLT'), fc.nat(255)).map(([name, value]) => `${name} ${value}`),
    );
    fc.assert(
      fc.property(
        fc.array(reply, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 9 })),
        (replies, cuts) => {
          const bytes = Buffer.from(replies.join('\n'));
          const parser = new UrcapReplies();
          const seen: string[] = [];
          const take = (found: UrcapReply) => seen.push(text(found));
          for (let at = 0, i = 0; at < bytes.length; i++) {
            const size = cuts[i % Math.max(1, cuts.length)] ?? bytes.length;
            parser.push(bytes.subarray(at, at + size), take);
            at += size;
          }
          parser.settled(take);
          assert.deepEqual(seen, replies);
          assert.equal(parser.malformed, 0);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('nonsense is dropped and counted, and does not grow', () => {
    const parser = new UrcapReplies();
    for (let i = 0; i < 100; i++) parser.push(Buffer.from('nonsense'), () => assert.fail());
    assert.ok(parser.malformed > 0);
    parser.settled(() => assert.fail());
    parser.push(Buffer.from('POS 12\n'), ({ value }) => assert.equal(value, 12));
  });
});
