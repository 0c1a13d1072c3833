import { parentPort, workerData } from 'node:worker_threads';
import { joinLocally } from '../../src/app/local-pair.ts';
import { monotonicClock as clock } from '../../src/core/time/clock.ts';
import { type PackedTrace, TRACE_FIELDS } from '../../src/messages/trace-record.ts';
import { type Libc, loadLibc } from '../../src/wire/transports/libc.ts';
import { LocalNetwork } from '../../src/wire/transports/local.ts';
import type { InProcessDone, InProcessStart } from './in-process.ts';

const { rig, model, seconds } = workerData as InProcessStart;
const PR_SET_TIMERSLACK = 29;

/** Preallocated for every command of the run, so that the loop allocates nothing for its trace. */
const packed = new Float64Array(TRACE_FIELDS.length * Math.ceil(rig.operator.hz * (seconds + 1)));
let closed = 0;

function keep(record: PackedTrace): void {
  const at = closed * TRACE_FIELDS.length;
  if (at + TRACE_FIELDS.length > packed.length) return;
  packed.set(record.packed, at);
  closed++;
}

function nativeWait(libc: Libc): (deadlineNs: number) => void {
  const time = new DataView(new ArrayBuffer(16));
  const bytes = new Uint8Array(time.buffer);
  libc.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  return (deadlineNs) => {
    const waitNs = Math.max(0, deadlineNs - clock.nowNs());
    time.setUint32(0, Math.floor(waitNs / 1e9), true);
    time.setUint32(8, waitNs % 1e9, true);
    libc.ppoll(null, 0, bytes, null);
  };
}

function atomicsWait(): (deadlineNs: number) => void {
  const never = new Int32Array(new SharedArrayBuffer(4));
  return (deadlineNs) => void Atomics.wait(never, 0, 0, Math.max(0, deadlineNs - clock.nowNs()) / 1e6);
}

const libc = await loadLibc().catch(() => null);
const network = new LocalNetwork(clock, libc === null ? atomicsWait() : nativeWait(libc));
await joinLocally({ rig, model, clock, network, sealed: false, onClosed: keep });
network.run(clock.nowNs() + seconds * 1e9);
const done: InProcessDone = {
  packed: packed.slice(0, closed * TRACE_FIELDS.length),
  wait: libc === null ? 'atomics' : 'ppoll',
};
parentPort?.postMessage(done);
