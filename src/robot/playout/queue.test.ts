import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { JointCommand } from '../../messages/command.ts';
import { CommandQueue, type QueuedCommand } from './queue.ts';

const emptyCommand = (): JointCommand => ({
  session: 0,
  seq: 0,
  engagement: 0,
  epoch: 0,
  tracking: true,
  sampledOperatorNs: 0,
  sampledRobotNs: 0,
  syncEpoch: 0,
  ageNs: 0,
  positionsRad: new Float64Array(2),
  gripper: 0,
});

/** Fills the next slot as a receiver does and inserts it; returns the result. */
function put(queue: CommandQueue, seq: number, dueNs: number): string | null {
  const slot = queue.slot();
  if (slot === null) return 'full';
  slot.command.seq = seq;
  slot.command.positionsRad.fill(seq);
  slot.receiveNs = seq * 10;
  slot.dueNs = dueNs;
  return queue.insert();
}

/** Takes the oldest and then overwrites it, as the next datagram would. */
function take(queue: CommandQueue): { seq: number; dueNs: number } | null {
  const entry = queue.shift();
  if (entry === null) return null;
  const { seq, positionsRad } = entry.command;
  assert.ok(positionsRad.every((rad) => rad === seq));
  assert.equal(entry.receiveNs, seq * 10);
  const taken = { seq, dueNs: entry.dueNs };
  spoil(entry);
  return taken;
}

function spoil(entry: QueuedCommand): void {
  entry.command.seq = Number.NaN;
  entry.command.positionsRad.fill(Number.NaN);
  entry.dueNs = Number.NaN;
}

describe('command queue', () => {
  it('is empty at first', () => {
    const queue = new CommandQueue(4, emptyCommand);
    assert.deepEqual([queue.depth, queue.releasedSeq, queue.nextDueNs], [0, 0, Number.POSITIVE_INFINITY]);
    assert.equal(queue.shift(), null);
    assert.equal(queue.isSuperseded(Number.POSITIVE_INFINITY), false);
  });

  it('releases commands in sequence order, for any order of arrival', () => {
    const queue = new CommandQueue(8, emptyCommand);
    for (const seq of [3, 1, 5, 2]) assert.equal(put(queue, seq, seq * 100), null);
    assert.equal(queue.nextDueNs, 100);
    assert.deepEqual(
      [1, 2, 3, 4].map(() => take(queue)?.seq),
      [1, 2, 3, 5],
    );
    assert.equal(queue.releasedSeq, 5);
  });

  it('rejects duplicates and commands older than the last released', () => {
    const queue = new CommandQueue(8, emptyCommand);
    put(queue, 5, 500);
    put(queue, 7, 700);
    assert.equal(put(queue, 5, 500), 'duplicate');
    assert.equal(put(queue, 7, 700), 'duplicate');
    assert.equal(take(queue)?.seq, 5);
    assert.equal(put(queue, 5, 500), 'duplicate');
    assert.equal(put(queue, 4, 400), 'dropped-stale');
    assert.equal(put(queue, 6, 600), null);
    assert.equal(queue.depth, 2);
  });

  it('is full at its capacity, and accepts again when one has left', () => {
    const queue = new CommandQueue(3, emptyCommand);
    for (const seq of [1, 2, 3]) assert.equal(put(queue, seq, 0), null);
    assert.equal(queue.slot(), null);
    take(queue);
    assert.equal(put(queue, 4, 0), null);
    assert.deepEqual(
      [1, 2, 3].map(() => take(queue)?.seq),
      [2, 3, 4],
    );
  });

  it('does not count a slot that was not inserted', () => {
    const queue = new CommandQueue(2, emptyCommand);
    for (let i = 0; i < 10; i++) spoil(queue.slot()!);
    assert.equal(queue.depth, 0);
    assert.equal(put(queue, 1, 0), null);
    assert.equal(put(queue, 2, 0), null);
    assert.equal(queue.slot(), null);
  });

  it('reports the oldest as superseded when the next is due as well', () => {
    const queue = new CommandQueue(4, emptyCommand);
    put(queue, 1, 100);
    assert.equal(queue.isSuperseded(1000), false);
    put(queue, 2, 200);
    assert.equal(queue.isSuperseded(199), false);
    assert.equal(queue.isSuperseded(200), true);
  });

  it('forgets everything when it is cleared', () => {
    const queue = new CommandQueue(3, emptyCommand);
    for (const seq of [7, 8, 9]) put(queue, seq, 0);
    take(queue);
    queue.clear();
    assert.deepEqual([queue.depth, queue.releasedSeq], [0, 0]);
    for (const seq of [1, 2, 3]) assert.equal(put(queue, seq, 0), null);
    assert.equal(queue.slot(), null);
  });

  it('matches its model: bounded, in order, each inserted command at most once', () => {
    const capacity = 5;
    const operation = fc.oneof(
      { weight: 3, arbitrary: fc.record({ seq: fc.integer({ min: 1, max: 30 }), dueNs: fc.nat(1000) }) },
      { weight: 2, arbitrary: fc.constant('shift' as const) },
      { weight: 1, arbitrary: fc.constant('slot' as const) },
      { weight: 1, arbitrary: fc.constant('clear' as const) },
    );
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 150 }), (operations) => {
        const queue = new CommandQueue(capacity, emptyCommand);
        let model: { seq: number; dueNs: number }[] = [];
        let released = 0;
        for (const step of operations) {
          if (step === 'slot') {
            const slot = queue.slot();
            assert.equal(slot === null, model.length === capacity);
            if (slot !== null) spoil(slot);
          } else if (step === 'clear') {
            queue.clear();
            model = [];
            released = 0;
          } else if (step === 'shift') {
            const expected = model.shift() ?? null;
            assert.deepEqual(take(queue), expected);
            if (expected !== null) {
              assert.ok(expected.seq > released, 'in order');
              released = expected.seq;
            }
          } else {
            const known = step.seq === released || model.some(({ seq }) => seq === step.seq);
            const answer =
              model.length === capacity
                ? 'full'
                : known
                  ? 'duplicate'
                  : step.seq < released
                    ? 'dropped-stale'
                    : null;
            if (answer !== 'full') assert.equal(queue.rejection(step.seq), answer);
            assert.equal(put(queue, step.seq, step.dueNs), answer);
            if (answer === null) model = [...model, { ...step }].sort((a, b) => a.seq - b.seq);
          }
          assert.equal(queue.depth, model.length);
          assert.equal(queue.releasedSeq, released);
          assert.equal(queue.nextDueNs, model[0]?.dueNs ?? Number.POSITIVE_INFINITY);
          for (const nowNs of [0, 500, 1000])
            assert.equal(queue.isSuperseded(nowNs), model.length > 1 && model[1]!.dueNs <= nowNs);
        }
      }),
      { numRuns: 300 },
    );
  });
});
