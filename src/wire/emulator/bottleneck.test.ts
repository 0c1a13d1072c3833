import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Bottleneck } from './bottleneck.ts';

const MS = 1e6;
/** 1250 bytes take 10 ms. */
const RATE = { kbitS: 1000, queueBytes: 5000, queueDatagrams: 100 };

describe('Bottleneck', () => {
  it('serialises at its rate, one after the other', () => {
    const link = new Bottleneck(RATE);
    assert.equal(link.enter(0, 0, 1250), 10 * MS);
    assert.equal(link.enter(1 * MS, 1 * MS, 1250), 20 * MS);
    assert.equal(link.enter(50 * MS, 50 * MS, 1250), 60 * MS, 'idle in between');
    assert.equal(link.enter(60 * MS, 75 * MS, 1250), 85 * MS, 'not before it is ready');
  });

  it('drops what does not fit and has room again once something has left', () => {
    const link = new Bottleneck(RATE);
    for (let i = 0; i < 4; i++) assert.ok(!Number.isNaN(link.enter(0, 0, 1250)));
    assert.ok(Number.isNaN(link.enter(0, 0, 1)), 'not a byte more');
    assert.ok(Number.isNaN(link.enter(10 * MS - 1, 0, 1250)));
    assert.equal(link.enter(10 * MS, 10 * MS, 1250), 50 * MS);
  });

  it('limits the number of datagrams too, through many rounds of its ring', () => {
    const link = new Bottleneck({ ...RATE, queueDatagrams: 3 });
    for (let round = 0; round < 100; round++) {
      const nowNs = round * 1000 * MS;
      for (let i = 0; i < 3; i++) assert.ok(!Number.isNaN(link.enter(nowNs, nowNs, 100)));
      assert.ok(Number.isNaN(link.enter(nowNs, nowNs, 100)));
    }
  });

  it('does not limit at rate 0', () => {
    const link = new Bottleneck({ ...RATE, kbitS: 0 });
    for (let i = 0; i < 1000; i++) assert.equal(link.enter(5, 7, 1472), 7);
  });
});
