import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DESK_ACTIONS } from '../../messages/desk-action.ts';
import {
  type DeskMessage,
  decodeDesk,
  decodeHello,
  emptyDesk,
  encodeBye,
  encodeDesk,
  encodeHello,
} from './desk.ts';
import { frameType } from './frame.ts';

const counts = { session: fc.maxSafeNat(), request: fc.maxSafeNat(), epoch: fc.maxSafeNat() };
const world = fc.record(
  { task: fc.string({ maxLength: 40 }), seed: fc.option(fc.maxSafeNat()) },
  { noNullPrototype: true },
);
const plain = DESK_ACTIONS.filter((action) => action !== 'world');
const desk: fc.Arbitrary<DeskMessage> = fc.oneof(
  fc.record({ ...counts, action: fc.constantFrom(...plain) }, { noNullPrototype: true }),
  fc.record({ ...counts, action: fc.constant('world' as const), world }, { noNullPrototype: true }),
);
const VALID = { session: 1, request: 2, action: 'arm', epoch: 3 };

function reasonOf(body: object): string | null {
  const bytes = new TextEncoder().encode(`FH1d${JSON.stringify(body)}`);
  return decodeDesk(bytes, bytes.length, emptyDesk());
}

function helloOf(text: string): number {
  const bytes = new TextEncoder().encode(`FH1h${text}`);
  return decodeHello(bytes, bytes.length);
}

describe('desk message', () => {
  it('survives a round trip', () => {
    const bytes = new Uint8Array(256);
    fc.assert(
      fc.property(desk, (sent) => {
        const back = emptyDesk();
        const length = encodeDesk(sent, bytes.fill(0xff));
        assert.equal(frameType(bytes, length), 'desk');
        assert.equal(decodeDesk(bytes, length, back), null);
        assert.deepEqual(back, sent);
      }),
    );
  });

  it('requires counts and a known action', () => {
    assert.equal(reasonOf(VALID), null);
    for (const field of ['session', 'request', 'epoch'])
      for (const value of [undefined, null, '1', -1, 0.5, [1]])
        assert.equal(reasonOf({ ...VALID, [field]: value }), 'malformed');
    for (const value of [undefined, null, 'ESTOP', 'engage', '', 0, ['arm'], { arm: 1 }])
      assert.equal(reasonOf({ ...VALID, action: value }), 'malformed');
    assert.equal(reasonOf([]), 'bad-json');
    const next = { ...VALID, action: 'world', task: '', seed: null };
    assert.equal(reasonOf(next), null);
    for (const task of [undefined, null, 1, 'x'.repeat(41)])
      assert.equal(reasonOf({ ...next, task }), 'malformed');
    for (const seed of [undefined, '1', -1, 0.5]) assert.equal(reasonOf({ ...next, seed }), 'malformed');
  });

  it('leaves no action behind when malformed', () => {
    const out = emptyDesk();
    const bytes = new TextEncoder().encode(`FH1d${JSON.stringify({ ...VALID, action: 'reset', epoch: -1 })}`);
    assert.equal(decodeDesk(bytes, bytes.length, out), 'malformed');
    assert.equal(out.action, 'disarm');
  });
});

describe('hello and bye', () => {
  it('survive a round trip', () => {
    const bytes = new Uint8Array(256);
    fc.assert(
      fc.property(fc.maxSafeNat(), (session) => {
        const hello = encodeHello(session, bytes.fill(0xff));
        assert.equal(frameType(bytes, hello), 'hello');
        assert.equal(decodeHello(bytes, hello), session);
        const bye = encodeBye(session, bytes.fill(0xff));
        assert.equal(frameType(bytes, bye), 'bye');
        assert.equal(decodeHello(bytes, bye), session);
      }),
    );
  });

  it('decode to NaN without a session', () => {
    for (const text of [
      '{}',
      '[]',
      '{"session":null}',
      '{"session":"5"}',
      '{"session":-5}',
      '{"session":1.5}',
      '{',
    ])
      assert.ok(Number.isNaN(helloOf(text)), text);
  });
});
