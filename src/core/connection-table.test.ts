import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type ConnectionLimits, ConnectionTable } from './connection-table.ts';

const LIMITS: ConnectionLimits = { local: 4, known: 6, strangers: 8, perAddress: 5 };
const operator = (id: string) => ({ id, isOperator: true });
const viewer = (id: string) => ({ id, isOperator: false });
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
    assert.equal(table.vouch(2, operator('headset')), null);
    for (let i = 100; i < 1100; i++) {
      const dropped = table.add(i, `10.0.0.${i % 200}`);
      assert.ok(dropped === null || dropped >= 100);
    }
    // The address is known now: its next connection does not use the pool of unknown addresses.
    assert.equal(table.add(3, 'headset'), null);
    for (let i = 2000; i < 3000; i++) assert.ok((table.add(i, `10.0.1.${i % 200}`) ?? 100) >= 100);
    assert.equal(table.add(4, 'here'), null);
  });

  it('an operator’s connection is never displaced by an unverified one', () => {
    const table = tableOf();
    for (let i = 0; i < 6; i++) {
      table.add(i, 'headset');
      assert.equal(table.vouch(i, operator(i < 3 ? 'left' : 'right')), null);
    }
    assert.equal(table.add(6, 'headset'), 6);
    // Another operator is accepted: the one with most makes room.
    assert.equal(table.add(7, 'tablet'), null);
    assert.equal(table.vouch(7, operator('tablet')), 0);
    table.delete(1);
    assert.equal(table.add(8, 'headset'), null);
  });

  it('a viewer with any number of connections leaves room for operators, from a known address and from a new one', () => {
    for (const addresses of [1, 200]) {
      const table = tableOf();
      const open = new Set<number>();
      const connect = (id: number, address: string, device: ReturnType<typeof viewer>) => {
        open.add(id);
        for (const dropped of [table.add(id, address), table.vouch(id, device)])
          if (dropped !== null) open.delete(dropped);
      };
      connect(0, 'headset', operator('headset'));
      for (let i = 1; i <= 400; i++) connect(i, `10.0.0.${i % addresses}`, viewer('tablet'));
      assert.equal(open.size, 1 + LIMITS.known / 2);
      connect(1000, 'headset', operator('headset'));
      connect(1001, 'laptop', operator('laptop'));
      assert.ok([0, 1000, 1001].every((id) => open.has(id)));
    }
  });

  it('of several viewers, the one with most makes room', () => {
    const table = tableOf();
    for (let i = 0; i < 4; i++) table.add(i, `v${i}`);
    assert.equal(table.vouch(0, viewer('greedy')), null);
    assert.equal(table.vouch(1, viewer('modest')), null);
    assert.equal(table.vouch(2, viewer('greedy')), null);
    assert.equal(table.vouch(3, viewer('new')), 0);
  });

  it('one device has its own limit, however much room there is', () => {
    const table = tableOf();
    for (let i = 0; i < 6; i++) table.add(i, `a${i}`);
    const dropped = Array.from({ length: 6 }, (_, i) => table.vouch(i, operator('headset')));
    assert.deepEqual(dropped, [null, null, null, null, null, 0]);
  });

  it('a device with many addresses does not make those of another forgotten', () => {
    const table = tableOf();
    table.add(0, 'headset');
    table.vouch(0, operator('headset'));
    for (let i = 1; i < 300; i++) {
      table.add(i, `10.0.1.${i}`);
      table.vouch(i, viewer('tablet'));
      table.delete(i);
    }
    // A flood of strangers does not touch what comes from an address that is known.
    table.add(300, 'headset');
    for (let i = 301; i < 400; i++) assert.ok((table.add(i, `10.0.2.${i}`) ?? i) > 300);
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
            leave(table.vouch(chosen.id, which % 2 === 0 ? operator(address) : viewer(address)));
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
