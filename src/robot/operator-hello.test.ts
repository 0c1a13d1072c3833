import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeHello } from '../wire/codecs/desk.ts';
import { OperatorHello } from './operator-hello.ts';

const bytes = new Uint8Array(512);
const wire = (body: object): number => {
  const text = new TextEncoder().encode(`FH1h${JSON.stringify(body)}`);
  bytes.fill(0xff).set(text);
  return text.length;
};

describe('a hello', () => {
  it('is read anew whenever its bytes change', () => {
    const hello = new OperatorHello();
    hello.read(bytes, encodeHello(7, bytes, { quality: 'smooth', capMs: 40 }, 2));
    assert.deepEqual([hello.session, hello.malformed, hello.outageHoldS], [7, null, 2]);
    assert.deepEqual(hello.request, { quality: 'smooth', capMs: 40 });
    hello.read(bytes, encodeHello(8, bytes));
    assert.deepEqual([hello.session, hello.malformed, hello.outageHoldS], [8, null, 0]);
    assert.deepEqual(hello.request, { quality: null, capMs: null });
  });

  it('means the same when it is repeated, also after one that is malformed', () => {
    const hello = new OperatorHello();
    for (let round = 0; round < 3; round++) {
      hello.read(bytes, wire({ session: 7, hold_s: 3 }));
      hello.read(bytes, wire({ session: 7, hold_s: 3 }));
      assert.deepEqual([hello.session, hello.malformed, hello.outageHoldS], [7, null, 3]);
      hello.read(bytes, wire({ session: 9, hold_s: -1 }));
      assert.deepEqual([hello.session, hello.malformed], [9, 'malformed']);
    }
  });

  it('may be longer than what is kept of it', () => {
    const hello = new OperatorHello();
    for (const session of [7, 8]) {
      hello.read(bytes, wire({ session, more: 'x'.repeat(300) }));
      assert.equal(hello.session, session);
    }
  });
});
