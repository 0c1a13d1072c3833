import { monotonicClock as clock } from '../../src/core/time/clock.ts';
import { type Libc, loadLibc } from '../../src/wire/transports/libc.ts';
import { GARBAGE_KINDS, garbage, type Target, xorshift } from './garbage.ts';

export interface FloodOrder {
  targets: Target[];
  perSecond: number;
  seconds: number;
}

export interface FloodDone {
  startNs: number;
  endNs: number;
  sent: number;
  /** Rejected by the kernel. */
  failed: number;
  /** Not sent, because this process was too late for its bursts. */
  skipped: number;
  sentByKind: Record<string, number>;
  sentByTarget: Record<string, number>;
}

const AF_INET = 2;
const SOCK_DGRAM_NONBLOCK_CLOEXEC = 2 | 0x800 | 0x80000;
const PR_SET_TIMERSLACK = 29;
const BURST_NS = 1e6;
/** After a late wake-up, at most this many bursts are made up for. */
const MAX_BURSTS = 5;
const STRANGERS = 4;
const VARIANTS = 64;

interface Shot {
  bytes: Uint8Array;
  length: number;
  to: Uint8Array;
  kind: string;
  target: string;
}

/** Every kind for every target, alternating, built before the clock starts. */
function magazine(targets: readonly Target[]): Shot[] {
  const random = xorshift(20260101);
  const shots: Shot[] = [];
  for (let variant = 0; variant < VARIANTS; variant++)
    for (const kind of GARBAGE_KINDS)
      for (const target of targets) {
        const made = garbage(kind, target, random);
        // Its own memory, at least one byte: FFI takes the address.
        const bytes = new Uint8Array(Math.max(1, made.length));
        bytes.set(made);
        shots.push({ bytes, length: made.length, to: loopback(target.port), kind, target: target.name });
      }
  return shots;
}

function loopback(port: number): Uint8Array {
  const address = new DataView(new ArrayBuffer(16));
  address.setUint16(0, AF_INET, true);
  address.setUint16(2, port);
  address.setUint32(4, 0x7f000001);
  return new Uint8Array(address.buffer);
}

function sleepUntil(libc: Libc, time: DataView, deadlineNs: number): void {
  const waitNs = deadlineNs - clock.nowNs();
  if (waitNs <= 0) return;
  time.setUint32(8, waitNs, true);
  libc.ppoll(null, 0, new Uint8Array(time.buffer), null);
}

function fire(libc: Libc, order: FloodOrder): FloodDone {
  const shots = magazine(order.targets);
  const fds = Array.from({ length: STRANGERS }, () => libc.socket(AF_INET, SOCK_DGRAM_NONBLOCK_CLOEXEC, 0));
  const time = new DataView(new ArrayBuffer(16));
  const perBurst = Math.round((order.perSecond * BURST_NS) / 1e9);
  const hits = new Float64Array(shots.length);
  const startNs = clock.nowNs();
  const endNs = startNs + order.seconds * 1e9;
  let [sent, failed, skipped, next] = [0, 0, 0, 0];
  for (let nowNs = startNs; nowNs < endNs; nowNs = clock.nowNs()) {
    const due = Math.floor((nowNs - startNs) / BURST_NS) * perBurst - (sent + failed + skipped);
    const now = Math.min(due, MAX_BURSTS * perBurst);
    skipped += due - now;
    for (let i = 0; i < now; i++, next = (next + 1) % shots.length) {
      const { bytes, length, to } = shots[next]!;
      if (libc.sendto(fds[i % STRANGERS]!, bytes, length, 0, to, 16) === length) {
        sent++;
        hits[next] = hits[next]! + 1;
      } else failed++;
    }
    sleepUntil(libc, time, startNs + (Math.floor((clock.nowNs() - startNs) / BURST_NS) + 1) * BURST_NS);
  }
  for (const fd of fds) libc.close(fd);
  const [sentByKind, sentByTarget]: Record<string, number>[] = [{}, {}];
  shots.forEach(({ kind, target }, i) => {
    sentByKind![kind] = (sentByKind![kind] ?? 0) + hits[i]!;
    sentByTarget![target] = (sentByTarget![target] ?? 0) + hits[i]!;
  });
  return {
    startNs,
    endNs: clock.nowNs(),
    sent,
    failed,
    skipped,
    sentByKind: sentByKind!,
    sentByTarget: sentByTarget!,
  };
}

const libc = await loadLibc();
libc.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
console.log(JSON.stringify(fire(libc, JSON.parse(process.argv[2]!) as FloodOrder)));
