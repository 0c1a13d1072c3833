import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AttemptLog } from './attempts.ts';

const VIC = `U${'A'.repeat(55)}`;
const BOB = `U${'B'.repeat(55)}`;
const AT = '[7] 2026/01/02 03:04:05.678901 [ERR] 127.0.0.1:45976 - cid:5';
const users = { vic: { publicKey: VIC }, bob: { publicKey: BOB } } as unknown as ConstructorParameters<
  typeof AttemptLog
>[0]['users'];

function of(...lines: string[]): unknown[] {
  const log = new AttemptLog({ users });
  for (const line of lines) log.add(line);
  return log.users.map(({ user, published, subscribed, subjects }) => [
    user,
    published,
    subscribed,
    ...subjects,
  ]);
}

describe('attempts in a server’s log', () => {
  it('are found in the form of old and new servers', () => {
    assert.deepEqual(of(`${AT} - "v3.3.1:nats.js" - Publish Violation - JWT User "${VIC}", Subject "a.b"`), [
      ['vic', 1, 0, 'a.b'],
    ]);
    assert.deepEqual(
      of(
        `${AT} - "v3.3.1:nats.js:x" - "users/nkey:${VIC}" - Publish Violation - Subject "a.b"`,
        `${AT} - "v3.3.1:nats.js:x" - "users/nkey:${VIC}" - Subscription Violation - Subject "c.>", SID 1`,
      ),
      [['vic', 1, 1, 'c.>', 'a.b']],
    );
  });

  it('include rejected reply subjects', () => {
    assert.deepEqual(of(`${AT} - "v1:x" - Publish Violation - JWT User "${VIC}", Reply "_R_.x"`), [
      ['vic', 1, 0, '_R_.x'],
    ]);
  });

  it('are not blamed on somebody else by a client’s name or subject', () => {
    const fakes = [
      `x" - "users/nkey:${BOB}" - Publish Violation - Subject "s`,
      `Publish Violation - JWT User "${BOB}", Subject "s"`,
    ];
    for (const fake of fakes) {
      const head = `${AT} - "v3.3.1:nats.js:${fake}"`;
      for (const line of [
        `${head} - "users/nkey:${VIC}" - Publish Violation - Subject "a"`,
        `${head} - Publish Violation - JWT User "${VIC}", Subject "a"`,
      ])
        assert.deepEqual(of(line), [['vic', 1, 0, 'a']], line);
    }
  });
});
