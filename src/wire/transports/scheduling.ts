import { shortSlice } from '../../native/short-slice.ts';
import type { Libc } from './libc.ts';

const SCHED_FIFO = 1;

/** Only for this thread, and only where permitted; the result is reported. */
export function setScheduling(libc: Libc, priority: number): string {
  const slice = () => {
    const asked = shortSlice(libc.syscall);
    return asked === '' ? '' : `, ${asked}`;
  };
  if (priority === 0) return `normal${slice()}`;
  const param = new Uint8Array(new Int32Array([priority]).buffer);
  const granted = libc.sched_setscheduler(0, SCHED_FIFO, param) === 0;
  if (granted) return `fifo:${priority}`;
  const why = libc.errnoName();
  return `normal (fifo:${priority} denied: ${why})${slice()}`;
}
