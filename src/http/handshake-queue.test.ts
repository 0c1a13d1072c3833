import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { HandshakeQueue } from './handshake-queue.ts';

interface Connection {
  address: string;
  destroyed: boolean;
}

function open() {
  const started: Connection[] = [];
  const queue = new HandshakeQueue<Connection>((connection) => started.push(connection));
  const add = (address: string): Connection => {
    const connection = { address, destroyed: false };
    queue.add(connection, address);
    return connection;
  };
  return { queue, started, add };
}

describe('TLS handshakes', () => {
  it('start at once while there are few', () => {
    const { queue, started, add } = open();
    for (let i = 0; i < 10; i++) add('a');
    assert.equal(queue.run(0), null);
    assert.equal(started.length, 10);
  });

  it('of one address do not delay those of another', () => {
    const { queue, started, add } = open();
    for (let i = 0; i < 1000; i++) add('flood');
    queue.run(0);
    const guest = add('guest');
    const waitMs = queue.run(0)!;
    assert.ok(!started.includes(guest));
    for (let nowMs = waitMs, runs = 0; !started.includes(guest); nowMs += queue.run(nowMs)!)
      assert.ok(++runs <= 2, 'the guest is next, or the one after');
  });

  it('that were closed while waiting cost nothing', () => {
    const { queue, started, add } = open();
    for (let i = 0; i < 1000; i++) add('gone').destroyed = true;
    const guest = add('guest');
    assert.equal(queue.run(0), null);
    assert.deepEqual(started, [guest]);
  });

  it('never exceed 50 at once plus 100 a second, and all get their turn', () => {
    const arrivals = fc.array(
      fc.record({ address: fc.constantFrom('a', 'b', 'c'), afterMs: fc.integer({ min: 0, max: 30 }) }),
      { minLength: 1, maxLength: 300 },
    );
    fc.assert(
      fc.property(arrivals, (steps) => {
        const { queue, started, add } = open();
        let nowMs = 0;
        for (const { address, afterMs } of steps) {
          nowMs += afterMs;
          add(address);
          queue.run(nowMs);
          assert.ok(started.length <= 50 + nowMs / 10 + 1e-6);
        }
        for (let waitMs = queue.run(nowMs); waitMs !== null; waitMs = queue.run(nowMs)) {
          assert.ok(waitMs > 0 && waitMs <= 10);
          nowMs += waitMs + 1e-6;
        }
        assert.equal(started.length, steps.length);
      }),
    );
  });
});
