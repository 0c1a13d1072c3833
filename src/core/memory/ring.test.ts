import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { RecordRing } from './ring.ts';

const operations = fc.array(fc.oneof(fc.integer({ min: 1, max: 1e6 }), fc.constant('shift' as const)), {
  maxLength: 200,
});

/** Runs pushes and shifts against an array; every buffer handed over is poisoned afterwards. */
function followModel(ring: RecordRing, steps: readonly (number | 'shift')[]): void {
  const model: number[] = [];
  const record = new Float64Array(ring.fields);
  const out = new Float64Array(ring.fields);
  let dropped = 0;
  for (const step of steps) {
    if (step === 'shift') {
      out.fill(-7);
      const expected = model.shift();
      assert.equal(ring.shift(out), expected !== undefined);
      assert.ok(out.every((value) => value === (expected ?? -7)));
    } else {
      record.fill(step);
      const fits = model.length < ring.capacity;
      assert.equal(ring.push(record), fits);
      if (fits) model.push(step);
      else dropped++;
      record.fill(Number.NaN);
    }
    assert.equal(ring.length, model.length);
    assert.equal(ring.dropped, dropped);
  }
}

interface Producer {
  /** How many records the ring accepted. */
  accepted: Promise<number>;
  worker: Worker;
}

/** Pushes `count` records [i, 2i, −i]; with `insist` it repeats each until the ring accepts it. */
function startProducer(ring: RecordRing, count: number, insist: boolean): Producer {
  const script = `
    const { parentPort, workerData } = require('node:worker_threads');
    import(workerData.module).then(({ RecordRing }) => {
      const ring = RecordRing.attach(workerData.buffer);
      const record = new Float64Array(3);
      let accepted = 0;
      for (let i = 1; i <= workerData.count; i++) {
        for (let tries = 0; tries < 1e9; tries++) {
          record[0] = i; record[1] = 2 * i; record[2] = -i;
          const taken = ring.push(record);
          record.fill(NaN);
          if (taken) accepted++;
          if (taken || !workerData.insist) break;
        }
      }
      parentPort.postMessage(accepted);
    });`;
  const module = new URL('./ring.js', import.meta.url).href;
  const worker = new Worker(script, {
    eval: true,
    workerData: { module, buffer: ring.buffer, count, insist },
  });
  const accepted = new Promise<number>((resolve, reject) => {
    worker.on('message', resolve);
    worker.on('error', reject);
    worker.on('exit', () => reject(new Error('the producer exited without a result')));
  });
  return { accepted, worker };
}

/** Drains everything the producer pushed; returns the indices in order of arrival. */
async function drain(ring: RecordRing, producer: Producer): Promise<number[]> {
  const seen: number[] = [];
  const out = new Float64Array(3);
  let ended = false;
  const end = () => {
    ended = true;
  };
  producer.accepted.then(end, end);
  const giveUpMs = performance.now() + 30_000;
  try {
    while (!ended || ring.length > 0) {
      assert.ok(performance.now() < giveUpMs, 'the producer did not finish in time');
      for (let i = 0; i < 1000 && ring.shift(out); i++) {
        assert.equal(out[1], 2 * out[0]!);
        assert.equal(out[2], -out[0]!);
        seen.push(out[0]!);
      }
      await setImmediate();
    }
  } finally {
    await producer.worker.terminate();
  }
  return seen;
}

describe('record ring', () => {
  it('is FIFO, and drops and counts what does not fit', () => {
    fc.assert(
      fc.property(
        operations,
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 4 }),
        (steps, f, log) => followModel(RecordRing.create(f, 2 ** log), steps),
      ),
    );
  });

  it('keeps working when its counters wrap around', () => {
    fc.assert(
      fc.property(operations, fc.integer({ min: 0, max: 20 }), (steps, before) => {
        const ring = RecordRing.create(2, 8);
        const heads = new Int32Array(ring.buffer, 0, 2);
        heads.fill(0x7fffffff - before);
        followModel(ring, steps);
      }),
    );
  });

  it('attaches to the same memory', () => {
    const ring = RecordRing.create(3, 4);
    const other = RecordRing.attach(ring.buffer);
    assert.deepEqual([other.fields, other.capacity, other.length], [3, 4, 0]);
    ring.push(Float64Array.of(1, 2, 3));
    const out = new Float64Array(3);
    assert.ok(other.shift(out));
    assert.deepEqual([...out], [1, 2, 3]);
    assert.equal(ring.length, 0);
  });

  it('rejects a capacity that is not a power of two', () => {
    for (const capacity of [0, 1, 3, 6, 100]) assert.throws(() => RecordRing.create(1, capacity));
  });

  it('carries 100,000 records between threads, complete and in order', async () => {
    const ring = RecordRing.create(3, 256);
    const producer = startProducer(ring, 100_000, true);
    const seen = await drain(ring, producer);
    assert.equal(await producer.accepted, 100_000);
    assert.equal(seen.length, 100_000);
    assert.ok(seen.every((value, i) => value === i + 1));
  });

  it('loses only what it counts when the producer does not wait', async () => {
    const ring = RecordRing.create(3, 16);
    const producer = startProducer(ring, 100_000, false);
    const seen = await drain(ring, producer);
    const accepted = await producer.accepted;
    assert.equal(seen.length, accepted);
    assert.equal(ring.dropped, 100_000 - accepted);
    for (let i = 1; i < seen.length; i++) assert.ok(seen[i]! > seen[i - 1]!);
  });
});
