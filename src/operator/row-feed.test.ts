import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Counters } from '../core/counters.ts';
import { RecordRing } from '../core/memory/ring.ts';
import { emptyRow, RING_ROW } from '../messages/ring-row.ts';
import { FLAG_BYTES, recorderFlag } from '../messages/role-flags.ts';
import { type PackedTrace, TRACE, type TraceRecord } from '../messages/trace-record.ts';
import { ClockSync } from '../wire/clock-sync.ts';
import { emptyCommand } from '../wire/codecs/command.ts';
import { RobotView } from './robot-view.ts';
import { RowFeed } from './row-feed.ts';

const JOINTS = 17;
const ROWS = 2048;

function bench() {
  const memory = {
    flags: new SharedArrayBuffer(FLAG_BYTES),
    rowRing: RecordRing.create(RING_ROW.size(JOINTS), ROWS).buffer,
    rowTraceRing: RecordRing.create(TRACE.size(), ROWS).buffer,
  };
  const counters = new Counters();
  const feed = new RowFeed(memory, JOINTS, counters);
  const robot = new RobotView(JOINTS).state;
  const unknown = {
    deviceNs: Number.NaN,
    sentNs: Number.NaN,
    arrivedNs: Number.NaN,
    source: 'person' as const,
    intervention: false,
    disagreementRad: Number.NaN,
  };
  const command = { ...emptyCommand(JOINTS), ...unknown, filterDelayNs: Number.NaN };
  const rows = RecordRing.attach(memory.rowRing);
  const traces = RecordRing.attach(memory.rowTraceRing);
  const send = () => {
    command.seq++;
    command.sampledOperatorNs += 10e6;
    feed.onCommand(command, robot, new ClockSync());
  };
  const take = () => {
    const row = emptyRow(JOINTS);
    assert.ok(rows.shift(row.packed));
    return row;
  };
  return { memory, counters, feed, robot, command, rows, traces, send, take };
}

function closedCommand(fields: Partial<TraceRecord>): PackedTrace {
  const record = TRACE.create();
  record.packed.fill(Number.NaN);
  return Object.assign(record, fields);
}

describe('rows for the recorder', () => {
  it('are written only while a recorder requests them', () => {
    const { memory, send, feed, rows, traces, counters } = bench();
    for (let i = 0; i < 5000; i++) send();
    feed.onClosed(closedCommand({}));
    assert.deepEqual([rows.length, traces.length, counters.snapshot()], [0, 0, {}]);
    Atomics.store(recorderFlag(memory), 0, 1);
    send();
    feed.onClosed(closedCommand({}));
    assert.deepEqual([rows.length, traces.length], [1, 1]);
  });

  it('contain the command, the state and the newest closed command of one instant', () => {
    const { memory, send, take, feed, robot, command } = bench();
    Atomics.store(recorderFlag(memory), 0, 1);
    robot.state = 'engaged';
    robot.limitedBy = 'velocity';
    robot.positionsRad[16] = 0.25;
    command.engagement = 3;
    command.positionsRad[16] = 0.5;
    send();
    // Later changes belong to another instant.
    robot.positionsRad[16] = 9;
    command.positionsRad[16] = 9;
    const first = take();
    assert.deepEqual(
      [first.seq, first.engaged, first.supervisor, first.limitedBy, first.commandRad[16], first.stateRad[16]],
      [1, true, 'engaged', 'velocity', 0.5, 0.25],
    );
    assert.ok(Number.isNaN(first.oneWayNs));
    const stamps = { seq: 1, sampledNs: 100, appliedNs: 5100, offsetNs: 1000 };
    feed.onClosed(closedCommand({ ...stamps, uncertaintyNs: 7, playoutDelayNs: 3000 }));
    // A command that was never applied has no path latency.
    feed.onClosed(closedCommand({ seq: 2 }));
    send();
    const second = take();
    assert.deepEqual([second.oneWayNs, second.uncertaintyNs, second.playoutDelayNs], [4000, 7, 3000]);
  });

  it('are dropped and counted when not read', () => {
    const { memory, send, rows, counters } = bench();
    Atomics.store(recorderFlag(memory), 0, 1);
    for (let i = 0; i < rows.capacity + 5; i++) send();
    assert.equal(counters.get('row-dropped'), 5);
  });
});
