import assert from 'node:assert/strict';
import { it } from 'node:test';
import { nextPartPath, traceFileName } from './file-name.ts';

it('names parts in UTC and finds the next one', () => {
  const at = new Date('2026-05-11T08:14:22.999Z');
  assert.equal(traceFileName(at, 0xabcd), 'robot_trace_20260511-081422_0000abcd.jsonl');
  assert.equal(traceFileName(at, 0xdeadbeef, 2), 'robot_trace_20260511-081422_deadbeef_2.jsonl');
  for (const part of [1, 2, 9, 99]) {
    assert.equal(
      nextPartPath(`/x_2/${traceFileName(at, 12, part)}`),
      `/x_2/${traceFileName(at, 12, part + 1)}`,
    );
  }
  assert.equal(nextPartPath('/x/other.jsonl'), null);
});
