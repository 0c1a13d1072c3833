import { Worker } from 'node:worker_threads';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import {
  emptyTraceRecord,
  TRACE_FIELDS,
  type TraceRecord,
  unpackTraceRecord,
} from '../../src/messages/trace-record.ts';
import { loadRig, type Rig } from '../../src/rig/rig.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { interruption } from '../interrupt.ts';

export interface InProcessStart {
  rig: Rig;
  model: RobotModel;
  seconds: number;
}

export interface InProcessDone {
  /** Packed trace records, one after another. */
  packed: Float64Array;
  /** How the thread slept: natively, or with `Atomics.wait` if there is no FFI. */
  wait: 'ppoll' | 'atomics';
}

/** Operator and robot on one thread, joined by memory, for `seconds` of real time. */
export async function inProcessRun(
  hz: number,
  seconds: number,
): Promise<{ records: TraceRecord[]; wait: string }> {
  const { config: rig } = loadRig('demo', ['robot.playout=none', `operator.hz=${hz}`]);
  const workerData: InProcessStart = { rig, model: loadModel(rig.model), seconds };
  const worker = new Worker(new URL('./in-process-worker.js', import.meta.url), { workerData });
  const { packed, wait } = await new Promise<InProcessDone>((resolve, reject) => {
    interruption.addEventListener('abort', () => void worker.terminate());
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the in-process bench thread ended early')));
  });
  const size = TRACE_FIELDS.length;
  const records = Array.from({ length: packed.length / size }, (_, i) => {
    const record = emptyTraceRecord();
    unpackTraceRecord(packed.subarray(i * size, (i + 1) * size), record);
    return record;
  });
  return { records, wait };
}
