import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Presence } from '../messages.ts';
import { SILENT_MS } from '../roster/roster-table.ts';
import { FleetBoard } from './fleet-board.ts';

const presence = (robot: string, part: Partial<Presence> = {}): Presence => ({
  ...{ kind: 'presence', robot, model: 'ur3', version: '0.1.0', state: 'idle', cause: '', atMs: 0 },
  ...{ holder: null, link: null, ...part },
});

describe('the board of a fleet', () => {
  it('reports each change once', () => {
    const board = new FleetBoard(() => null);
    board.received(presence('b'), 0);
    board.received(presence('a'), 0);
    assert.deepEqual(
      board.rows(0).map(({ robot }) => robot),
      ['a', 'b'],
    );
    assert.equal(board.changes(0).rows.length, 2);
    board.received(presence('a', { atMs: 1000 }), 1000);
    board.received(presence('b', { state: 'stopped' }), 1000);
    const { rows } = board.changes(1000);
    assert.deepEqual(
      rows.map(({ robot, state }) => [robot, state]),
      [['b', 'stopped']],
    );
    assert.deepEqual(board.changes(1500), { rows: [], removed: [] });
  });

  it('shows a robot that went silent or ended as gone, with the time since', () => {
    const board = new FleetBoard(() => null);
    board.received(presence('a', { holder: 'ann' }), 0);
    board.received(presence('b', { state: 'ended' }), 0);
    assert.equal(board.rows(SILENT_MS)[0]!.goneForMs, null);
    const [a, b] = board.rows(SILENT_MS + 1);
    assert.deepEqual([a!.goneForMs, a!.lease, b!.goneForMs], [SILENT_MS + 1, null, SILENT_MS + 1]);
    assert.equal(board.changes(100).rows.length, 2);
    assert.equal(board.changes(SILENT_MS + 1).rows.length, 1, 'going silent is a change');
    assert.deepEqual(board.changes(SILENT_MS + 500).rows, [], 'growing older is not');
    assert.deepEqual(board.changes(16 * 60e3).removed, ['a', 'b']);
  });

  it('trusts the lease over the robot, and the robot where no lease is received', () => {
    const board = new FleetBoard(() => 4);
    board.received(presence('a', { holder: 'old' }), 0);
    assert.equal(board.rows(0)[0]!.lease?.user, 'old');
    assert.equal(board.leaseReceived('a', 'ann', 17, 100), true);
    assert.equal(board.leaseReceived('a', 'ann', 17, 600), false);
    assert.equal(board.leaseReceived('a', 'bob', 16, 700), false, 'an older token');
    assert.deepEqual(board.rows(1100)[0]!.lease, { user: 'ann', token: 17, heldForMs: 1000, page: 4 });
    assert.equal(board.leaseReceived('a', '', 18, 1200), true);
    board.received(presence('a', { holder: 'ann' }), 2000);
    assert.equal(board.rows(2100)[0]!.lease, null, 'the robot’s report is older');
    assert.equal(board.rows(3300)[0]!.lease?.user, 'ann');
    assert.equal(board.leaseReceived('nobody', 'ann', 17, 0), false);
  });

  it('trusts the roster about a robot that does not change, until the roster is away', () => {
    const board = new FleetBoard(() => null);
    board.listed(presence('a'), null, 0);
    board.listed(presence('b'), 20_000, 0);
    const gone = (nowMs: number) => board.rows(nowMs).map(({ goneForMs }) => goneForMs !== null);
    assert.deepEqual(gone(60 * 60e3), [false, true]);
    board.unwatch(60 * 60e3);
    assert.deepEqual(gone(60 * 60e3 + SILENT_MS + 1), [true, true]);
    board.removed('b');
    assert.deepEqual(board.changes(60 * 60e3).removed, ['b']);
  });

  it('keeps at most 16384 robots', () => {
    const board = new FleetBoard(() => null);
    for (let i = 0; i < 17_000; i++) board.received(presence(`r${i}`), 0);
    assert.equal(board.robots.length, 16_384);
  });
});
