import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Presence } from '../messages.ts';
import { PAGE_ROWS, RosterTable, SILENT_MS } from './roster-table.ts';

const presence = (robot: string, state = 'idle', atMs = 0): Presence => ({
  ...{
    kind: 'presence',
    robot,
    model: 'ur3',
    version: '1',
    state,
    cause: '',
    holder: null,
    link: null,
    atMs,
  },
});
const all = () => true;

describe('the roster of a fleet', () => {
  it('reports a robot that repeats itself once, and a silent one as gone', () => {
    const table = new RosterTable();
    table.received(presence('a'), 0);
    const first = table.changes(0, all, 0);
    assert.deepEqual([first.rows.length, first.more], [1, false]);
    table.received(presence('a', 'idle', 5000), 5000);
    assert.deepEqual(table.changes(first.version, all, 5000).rows, []);
    table.tick(5000 + SILENT_MS + 1);
    const [gone] = table.changes(first.version, all, 5000 + SILENT_MS + 1).rows;
    assert.equal(gone?.goneForMs, SILENT_MS + 1);
    table.received(presence('a', 'idle', 20_000), 20_000);
    assert.equal(table.changes(0, all, 20_000).rows[0]?.goneForMs, null);
    table.received(presence('a', 'ended'), 21_000);
    assert.equal(table.changes(0, all, 21_000).rows[0]?.goneForMs, 0);
    const { version } = table.changes(0, all, 21_000);
    table.tick(20 * 60e3);
    assert.deepEqual(table.changes(version, all, 20 * 60e3).removed, ['a']);
  });

  it('answers in pages that together have every robot once, and covers only what was asked for', () => {
    const table = new RosterTable();
    for (let i = 0; i < 2 * PAGE_ROWS + 10; i++) table.received(presence(`${i % 2 ? 'x/' : ''}r${i}`), 0);
    const seen: string[] = [];
    for (let since = 0, more = true; more; ) {
      const page = table.changes(since, all, 0);
      assert.ok(page.rows.length <= PAGE_ROWS);
      seen.push(...page.rows.map((row) => row.presence.robot));
      ({ version: since, more } = page);
    }
    assert.equal(seen.length, 2 * PAGE_ROWS + 10);
    assert.equal(new Set(seen).size, seen.length);
    const inX = table.changes(0, (robot) => robot.startsWith('x/'), 0).rows;
    assert.ok(inX.length > 0 && inX.every((row) => row.presence.robot.startsWith('x/')));
  });

  it('lets a reader that follows the changes end with the same robots, whatever happens', () => {
    const step = fc.oneof(
      fc.record({
        robot: fc.integer({ min: 0, max: 5 }),
        state: fc.constantFrom('idle', 'engaged', 'ended'),
      }),
      fc.constant('read' as const),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const table = new RosterTable();
        const known = new Map<string, string>();
        let [since, nowMs] = [0, 0];
        const read = () => {
          for (let more = true; more; ) {
            const page = table.changes(since, all, nowMs);
            for (const { presence: row, goneForMs } of page.rows)
              known.set(row.robot, goneForMs === null ? row.state : 'gone');
            ({ version: since, more } = page);
          }
        };
        const truth = new Map<string, string>();
        for (const each of steps) {
          nowMs += 100;
          if (each === 'read') read();
          else {
            table.received(presence(`r${each.robot}`, each.state, nowMs), nowMs);
            truth.set(`r${each.robot}`, each.state === 'ended' ? 'gone' : each.state);
          }
        }
        read();
        assert.deepEqual(new Map([...known].sort()), new Map([...truth].sort()));
      }),
    );
  });
});
