import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { LossMeter } from './loss-meter.ts';

const PERIOD_NS = 10e6;
/** A packet that more have overtaken is lost. */
const MOST_OVERTAKEN = 15;

/** Packets 1 … count, except those for which `isLost`; in the order of `shuffle`. */
function run(count: number, isLost: (seq: number) => boolean, swap: (seq: number) => boolean = () => false) {
  const meter = new LossMeter();
  const seqs = Array.from({ length: count }, (_, i) => i + 1).filter((seq) => !isLost(seq));
  for (let i = 0; i + 1 < seqs.length; i++)
    if (swap(seqs[i]!)) [seqs[i], seqs[i + 1]] = [seqs[i + 1]!, seqs[i]!];
  let most = 0;
  seqs.forEach((seq, i) => {
    meter.add(seq, i * PERIOD_NS);
    most = Math.max(most, meter.repeat);
  });
  return { repeat: meter.repeat, most };
}

describe('LossMeter', () => {
  it('asks for nothing while nothing is lost and none is overtaken by sixteen others', () => {
    // A packet that is swapped again and again is overtaken by as many.
    const bounded = (swaps: Iterator<boolean>) => {
      let overtaken = 0;
      return () => {
        overtaken = swaps.next().value && overtaken < MOST_OVERTAKEN ? overtaken + 1 : 0;
        return overtaken > 0;
      };
    };
    const none = () => false;
    fc.assert(
      fc.property(fc.infiniteStream(fc.boolean()), (swaps) => {
        assert.equal(run(500, none, bounded(swaps)).most, 0);
      }),
      { numRuns: 30 },
    );
    const overtaken = (times: number) => {
      let so = 0;
      return (seq: number) => seq === 100 && so++ < times;
    };
    assert.equal(run(500, none, overtaken(MOST_OVERTAKEN)).most, 0);
    assert.equal(run(500, none, overtaken(MOST_OVERTAKEN + 1)).most, 2, 'then it counts as lost');
  });

  it('asks for one more than the longest burst, at most 8', () => {
    for (const burst of [1, 2, 5, 7, 12])
      assert.equal(run(300, (seq) => seq > 100 && seq <= 100 + burst).repeat, Math.min(8, burst + 1));
  });

  it('ignores an outage, which no packet can repeat', () => {
    assert.equal(run(600, (seq) => seq > 100 && seq <= 130).most, 0);
    assert.equal(run(600, (seq) => seq > 100 && seq <= 400).most, 0);
  });

  it('forgets a loss after two minutes', () => {
    assert.equal(run(11_000, (seq) => seq === 100).repeat, 2);
    assert.equal(run(13_500, (seq) => seq === 100).repeat, 0);
  });

  it('stays within 0 and 8 for any sequence numbers and times', () => {
    const packet = fc.tuple(fc.nat(2 ** 32), fc.double({ min: 0, max: 1e15, noNaN: true }));
    fc.assert(
      fc.property(fc.array(packet, { maxLength: 200 }), (packets) => {
        const meter = new LossMeter();
        for (const [seq, nowNs] of packets) {
          meter.add(seq, nowNs);
          assert.ok(meter.repeat >= 0 && meter.repeat <= 8);
        }
      }),
    );
  });
});
