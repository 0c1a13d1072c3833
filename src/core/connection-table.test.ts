import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type ConnectionLimits, ConnectionTable } from './connection-table.ts';

const LIMITS: ConnectionLimits = { local: 4, known: 6, strangers: 8, perAddress: 5 };
const tableOf = () => new ConnectionTable<number>(LIMITS, (address) => address === 'here');

describe('connection limits', () => {
  it('unknown addresses displace each other: the oldest connection of the address with most', () => {
    const table = tableOf();
    for (let i = 0; i < 4; i++) assert.equal(table.add(i, 'a'), null);
    for (let i = 4; i < 8; i++) assert.equal(table.add(i, `b${i}`), null);
    assert.deepEqual([table.add(8, 'c'), table.add(9, 'd')], [0, 1]);
    assert.equal(table.size, 8);
  });

  it('each address has its own limit, regardless of free room', () => {
    const table = tableOf();
    const dropped = Array.from({ length: 7 }, (_, i) => table.add(i, 'a'));
    assert.deepEqual(dropped, [null, null, null, null, null, 0, 1]);
  });

  it('a flood from unknown addresses affects neither this machine nor verified devices', () => {
    const table = tableOf();
    table.add(1, 'here');
    table.add(2, 'headset');
    assert.equal(table.vouch(2), null);
    for (let i = 100; i < 1100; i++) {
      const dropped = table.add(i, `10.0.0.${i % 200}`);
      assert.ok(dropped === null || dropped >= 100);
    }
    // The address is known now: its next connection does not use the pool of unknown addresses.
    assert.equal(table.add(3, 'headset'), null);
    for (let i = 2000; i < 3000; i++) assert.ok((table.add(i, `10.0.1.${i % 200}`) ?? 100) >= 100);
    assert.equal(table.add(4, 'here'), null);
  });

  it('a verified connection is never displaced: the newcomer is closed when no other can be', () => {
    const table = tableOf();
    for (let i = 0; i < 6; i++) {
      table.add(i, 'headset');
      assert.equal(table.vouch(i), null);
    }
    assert.equal(table.add(6, 'headset'), 6);
    table.delete(0);
    assert.equal(table.add(7, 'headset'), null);
  });

  it('keeps its limits for any order of events, and drops no connection twice', () => {
    const event = fc.record({
      what: fc.constantFrom('add', 'add', 'add', 'vouch', 'delete'),
      address: fc.constantFrom('here', 'a', 'b', 'c', 'd', 'e'),
      which: fc.nat(40),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 200 }), (events) => {
        const table = tableOf();
        const open: { id: number; address: string; vouched: boolean }[] = [];
        const leave = (id: number | null) => {
          if (id === null) return;
          const at = open.findIndex((one) => one.id === id);
          assert.ok(at >= 0, 'only an open connection is dropped');
          open.splice(at, 1);
        };
        events.forEach(({ what, address, which }, id) => {
          const chosen = open[which % Math.max(1, open.length)];
          if (what === 'add') {
            open.push({ id, address, vouched: false });
            leave(table.add(id, address));
          } else if (chosen !== undefined && what === 'vouch') {
            chosen.vouched = true;
            leave(table.vouch(chosen.id));
          } else if (chosen !== undefined) {
            table.delete(chosen.id);
            leave(chosen.id);
          }
          assert.equal(table.size, open.length);
          const here = open.filter((one) => one.address === 'here');
          const unproven = open.filter((one) => one.address === 'a' && !one.vouched);
          // From two pools, when the address became known in between.
          assert.ok(here.length <= LIMITS.local && unproven.length <= 2 * LIMITS.perAddress);
          assert.ok(open.length <= LIMITS.local + LIMITS.known + LIMITS.strangers);
        });
      }),
      { numRuns: 500 },
    );
  });
});
