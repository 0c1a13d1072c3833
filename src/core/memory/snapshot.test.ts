import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { SnapshotBoard } from './snapshot.ts';

const NUMBERS = 60;
const ENOUGH = 1000;

describe('snapshot board', () => {
  it('returns the newest numbers and text', () => {
    const board = SnapshotBoard.create(3);
    const reader = new SnapshotBoard(board.buffer);
    const out = new Float64Array(3);
    const numbers = Float64Array.of(1, Number.NaN, -3);
    board.write(Float64Array.of(7, 7, 7), 'older and longer');
    board.write(numbers, 'größer → ok');
    numbers.fill(99);
    assert.equal(reader.read(out), 'größer → ok');
    assert.deepEqual([...out], [1, Number.NaN, -3]);
  });

  it('is empty before the first write', () => {
    const out = new Float64Array(2).fill(5);
    assert.equal(SnapshotBoard.create(2).read(out), null);
    assert.deepEqual([...out], [5, 5]);
  });

  it('truncates a long text', () => {
    const board = SnapshotBoard.create(1);
    board.write(Float64Array.of(1), 'x'.repeat(1000));
    assert.equal(board.read(new Float64Array(1)), 'x'.repeat(191));
  });

  it('gives up when the writer died during a write', () => {
    const board = SnapshotBoard.create(1);
    board.write(Float64Array.of(1), 'a');
    Atomics.add(new Int32Array(board.buffer), 0, 1);
    assert.equal(board.read(new Float64Array(1)), null);
  });

  it('is never read half written', async () => {
    const board = SnapshotBoard.create(NUMBERS);
    const stop = new Int32Array(new SharedArrayBuffer(4));
    const script = `
      const { parentPort, workerData } = require('node:worker_threads');
      import(workerData.module).then(({ SnapshotBoard }) => {
        const board = new SnapshotBoard(workerData.buffer);
        const numbers = new Float64Array(${NUMBERS});
        let i = 0;
        while (Atomics.load(workerData.stop, 0) === 0 && i < 1e8) {
          i++;
          board.write(numbers.fill(i), 'n' + i);
          for (let pause = 0; pause < 300; pause++) Atomics.load(workerData.stop, 0);
        }
        parentPort.postMessage(i);
      });`;
    const module = new URL('./snapshot.js', import.meta.url).href;
    const worker = new Worker(script, { eval: true, workerData: { module, buffer: board.buffer, stop } });
    const ended = new Promise<number>((resolve, reject) => {
      worker.on('message', resolve);
      worker.on('error', reject);
    });
    const out = new Float64Array(NUMBERS);
    const versions = new Set<number>();
    let newest = 0;
    const giveUpMs = performance.now() + 30_000;
    try {
      while (versions.size < ENOUGH && performance.now() < giveUpMs) {
        for (let i = 0; i < 100; i++) {
          out.fill(Number.NaN);
          const text = board.read(out);
          if (text === null) continue;
          assert.equal(text, `n${out[0]}`);
          assert.ok(out.every((value) => value === out[0]));
          assert.ok(out[0]! >= newest);
          newest = out[0]!;
          versions.add(newest);
        }
        await setImmediate();
      }
    } finally {
      Atomics.store(stop, 0, 1);
    }
    const written = await ended;
    assert.ok(versions.size >= ENOUGH, `only ${versions.size} of ${written} versions were seen`);
  });
});
