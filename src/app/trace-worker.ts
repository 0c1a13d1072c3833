import { parentPort, workerData } from 'node:worker_threads';
import { monotonicClock } from '../core/clock.ts';
import { TeleopError } from '../core/errors.ts';
import { RecordRing } from '../core/ring.ts';
import { emptyTraceRecord, TRACE_FIELDS, unpackTraceRecord } from '../core/trace-record.ts';
import { TraceFileWriter } from '../trace/file-writer.ts';
import type { TraceSession } from '../trace/stamps.ts';

export interface TraceStart {
  ring: SharedArrayBuffer;
  dir: string;
  maxPartBytes: number;
  session: TraceSession;
}

export type TraceMessage =
  | { kind: 'opened'; path: string }
  | { kind: 'failed'; code: string; message: string; hint: string }
  | { kind: 'trouble'; message: string }
  | { kind: 'closed'; path: string; dropped: number };

/** Drains the ring of closed commands to disk: JSON, write and fsync happen here and nowhere near the loop. */
const start = workerData as TraceStart;
const DRAIN_MS = 20;
const ring = RecordRing.attach(start.ring);
const packed = new Float64Array(TRACE_FIELDS.length);
const record = emptyTraceRecord();
let troubled = false;
const tell = (message: TraceMessage) => parentPort?.postMessage(message);

function drain(writer: TraceFileWriter): void {
  while (ring.shift(packed)) {
    unpackTraceRecord(packed, record);
    writer.write(record);
  }
  if (writer.flush(monotonicClock.nowNs()) === 'ok') troubled = false;
  else if (!troubled) {
    troubled = true;
    tell({ kind: 'trouble', message: writer.failure?.message ?? 'the trace cannot be written' });
  }
}

try {
  const writer = TraceFileWriter.open(start.dir, start.session, { maxPartBytes: start.maxPartBytes });
  tell({ kind: 'opened', path: writer.path });
  // Readers begin with the first part and follow the rest.
  const { path } = writer;
  const timer = setInterval(() => drain(writer), DRAIN_MS);
  parentPort?.once('message', () => {
    clearInterval(timer);
    drain(writer);
    writer.close(ring.dropped);
    tell({ kind: 'closed', path, dropped: ring.dropped + writer.dropped });
    parentPort?.close();
  });
} catch (error) {
  if (!(error instanceof TeleopError)) throw error;
  tell({ kind: 'failed', code: error.code, message: error.message, hint: error.hint });
  parentPort?.close();
}
