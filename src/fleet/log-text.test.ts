import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { logText } from './log-text.ts';
import { auditSchema, parsed, presenceSchema } from './messages.ts';

const storedMs = Date.UTC(2026, 0, 2, 3, 4, 5);

describe('a line of the log', () => {
  const line = { what: 'estop', who: 'bob', robot: 'arm-1', by: 'eve', storedMs } as const;

  it('has the time of the store', () => {
    assert.equal(
      logText({ ...line, atMs: storedMs - 2000 }),
      '2026-01-02T03:04:05.000Z  arm-1  eve: estop of bob',
    );
  });

  it('shows a sender’s time that differs from it', () => {
    const text = logText({ ...line, atMs: 1 });
    assert.match(text, /^2026-01-02T03:04:05\.000Z .* \[sent as of 1970-01-01T00:00:00\.001Z\]$/);
  });
});

describe('messages of others', () => {
  const entry = { what: 'estop', why: 'x\u001b[2J\r\nfake', atMs: 1 };

  it('cannot have a time that no date has', () => {
    assert.ok(parsed(auditSchema, JSON.stringify(entry)));
    for (const atMs of [1e308, -1, 8.64e15 + 1])
      assert.equal(parsed(auditSchema, JSON.stringify({ ...entry, atMs })), null);
  });

  it('cannot control a terminal', () => {
    assert.equal(parsed(auditSchema, JSON.stringify(entry))?.why, 'x�[2J��fake');
    const title = '\u001b]0;title\u0007';
    const presence = {
      ...{ kind: 'presence', robot: 'arm', model: title, version: title, state: title, cause: title },
      ...{ holder: title, link: null, atMs: 1 },
    };
    const text = JSON.stringify(parsed(presenceSchema, JSON.stringify(presence)));
    assert.doesNotMatch(text, /\\u00|\p{Cc}/u);
  });
});
