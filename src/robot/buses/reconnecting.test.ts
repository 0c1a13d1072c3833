import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Reconnecting } from './reconnecting.ts';

interface FakeLink {
  closed: boolean;
  lose(why: string): void;
  close(): void;
}

/** A device that can be unplugged; every link it hands out is kept. */
function device(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const links: FakeLink[] = [];
  const events: string[] = [];
  const state = { attempts: 0, present: true, losesAtOnce: false };
  const connection = new Reconnecting<FakeLink>(
    async (lose) => {
      state.attempts++;
      if (!state.present) throw new Error('no such device');
      const link: FakeLink = {
        closed: false,
        lose,
        close: () => {
          link.closed = true;
        },
      };
      links.push(link);
      if (state.losesAtOnce) lose('gone at once');
      return link;
    },
    { onLost: (why) => events.push(`lost: ${why}`), onBack: () => events.push('back') },
  );
  const pass = async (ms: number) => {
    t.mock.timers.tick(ms);
    for (let i = 0; i < 10; i++) await Promise.resolve();
  };
  return { connection, links, events, state, pass };
}

describe('a connection that reconnects', () => {
  it('rejects if the first attempt fails, and does not try again', async (t) => {
    const { connection, state, pass } = device(t);
    state.present = false;
    await assert.rejects(() => connection.open(), /no such device/);
    assert.equal(connection.trouble, 'not open');
    await pass(60_000);
    assert.equal(state.attempts, 1);
  });

  it('closes a lost link, reports why, and opens another', async (t) => {
    const { connection, links, events, pass } = device(t);
    await connection.open();
    assert.equal(connection.link, links[0]);
    assert.equal(connection.trouble, '');
    links[0]!.lose('unplugged');
    assert.ok(links[0]!.closed);
    assert.deepEqual([connection.link, connection.trouble], [null, 'unplugged']);
    await pass(99);
    assert.equal(links.length, 1);
    await pass(1);
    assert.equal(connection.link, links[1]);
    assert.equal(connection.trouble, '');
    assert.deepEqual(events, ['lost: unplugged', 'back']);
  });

  it('doubles its pauses up to three seconds while the device is absent', async (t) => {
    const { connection, links, state, events, pass } = device(t);
    await connection.open();
    state.present = false;
    links[0]!.lose('unplugged');
    const pauses: number[] = [];
    let sinceMs = 0;
    while (pauses.length < 8 && sinceMs < 10_000) {
      const before = state.attempts;
      await pass(100);
      sinceMs += 100;
      if (state.attempts === before) continue;
      pauses.push(sinceMs);
      sinceMs = 0;
    }
    assert.deepEqual(pauses, [100, 200, 400, 800, 1600, 3000, 3000, 3000]);
    assert.deepEqual(events, ['lost: unplugged']);
    assert.equal(connection.trouble, 'unplugged');
  });

  it('treats a link lost while opening as a failed attempt', async (t) => {
    const { connection, links, state, events, pass } = device(t);
    await connection.open();
    state.losesAtOnce = true;
    links[0]!.lose('unplugged');
    await pass(100);
    assert.equal(connection.link, null);
    state.losesAtOnce = false;
    await pass(200);
    assert.equal(connection.link, links[2]);
    assert.deepEqual(events, ['lost: unplugged', 'back']);
  });

  it('ignores a second loss of an old link', async (t) => {
    const { connection, links, events, pass } = device(t);
    await connection.open();
    links[0]!.lose('unplugged');
    await pass(100);
    links[0]!.lose('unplugged again');
    assert.equal(connection.link, links[1]);
    assert.equal(events.length, 2);
  });

  it('stays closed: makes no further attempt, and closes a link that opens too late', async (t) => {
    const { connection, links, state, events, pass } = device(t);
    await connection.open();
    links[0]!.lose('unplugged');
    connection.close();
    await pass(60_000);
    assert.equal(state.attempts, 1);
    const late = connection.open();
    await late;
    assert.ok(links[1]!.closed);
    assert.deepEqual([connection.link, connection.trouble], [null, 'closed']);
    assert.deepEqual(events, ['lost: unplugged']);
  });

  it('can be closed from its onLost callback', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let attempts = 0;
    let lose = (_why: string) => {};
    const connection: Reconnecting<{ close(): void }> = new Reconnecting(
      async (onLost) => {
        attempts++;
        lose = onLost;
        return { close: () => {} };
      },
      { onLost: () => connection.close(), onBack: () => assert.fail('it is closed') },
    );
    await connection.open();
    lose('unplugged');
    t.mock.timers.tick(60_000);
    assert.equal(attempts, 1);
  });
});
