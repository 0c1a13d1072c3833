import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import { startBaseline } from '../check/baseline.ts';
import { TOS_EF } from '../check/echo-packet.ts';
import { loopback } from '../check/place.ts';
import { TeleopError } from '../core/errors.ts';
import { monotonicClock } from '../core/time/clock.ts';
import { ClockSync } from '../wire/clock-sync.ts';
import { type DatagramHandler, peerOf } from '../wire/reactor.ts';
import { loadLibc } from '../wire/transports/libc.ts';
import { openProbeSocket, type ProbeSocket } from '../wire/transports/probe-socket.ts';
import { openNativeReactor } from '../wire/transports/udp-native.ts';
import type { Marks, SelfTest } from './probe.ts';

const PROBES = 100;
const PERIOD_NS = 5e6;

/** Sends itself a datagram every 5 ms through the same sockets that a role uses. */
export async function selfTest(priority: number): Promise<SelfTest | string> {
  try {
    return await sendToSelf(priority);
  } catch (error) {
    if (!(error instanceof TeleopError)) throw error;
    return error.message;
  }
}

async function sendToSelf(priority: number): Promise<SelfTest> {
  const spec = { name: 'doctor', host: '127.0.0.1', port: 0 };
  const reactor = await openNativeReactor([spec], undefined, monotonicClock, priority);
  const own = peerOf('127.0.0.1', reactor.localPort(0));
  const stampGapNs: number[] = [];
  const wakeLateNs: number[] = [];
  let nextNs = monotonicClock.nowNs() + PERIOD_NS;
  const handler: DatagramHandler = {
    nextDeadlineNs: () => nextNs,
    onDeadline(nowNs) {
      wakeLateNs.push(nowNs - nextNs);
      nextNs = nowNs + PERIOD_NS;
      reactor.send(0, Uint8Array.of(1), 1, own);
      if (wakeLateNs.length >= PROBES) reactor.stop();
    },
    onDatagram: (_socket, _bytes, _length, _from, receivedNs, kernelNs) => {
      if (Number.isFinite(kernelNs)) stampGapNs.push(receivedNs - kernelNs);
    },
    onOversize: () => {},
  };
  await reactor.run(handler);
  const { scheduling } = reactor;
  reactor.close();
  if (priority > 0) await backToNormal();
  return { stampGapNs, wakeLateNs, scheduling };
}

/** Drops the priority again, which this thread and its children would otherwise keep. */
async function backToNormal(): Promise<void> {
  const SCHED_OTHER = 0;
  (await loadLibc()).sched_setscheduler(0, SCHED_OTHER, new Uint8Array(new ArrayBuffer(4)));
}

/** Measured against the echo on the robot's host; without a host, between two sockets of this machine. */
export async function marksOf(host: string | null, echoPort: number): Promise<Marks | string> {
  return host === null ? ownMarks() : echoMarks(host, echoPort);
}

const PROBE_HZ = 50;
const PROBE_MS = 1000;

async function echoMarks(host: string, port: number): Promise<Marks | string> {
  try {
    const probes = await startBaseline(loopback, { hz: PROBE_HZ, udp: { host, port }, icmpHost: null });
    await new Promise((resolve) => setTimeout(resolve, PROBE_MS));
    const { udp, tosThere, tosBack, clockUncertaintyMs, notes } = await probes.stop();
    if (!udp?.oneWayMs) return notes[0] ?? 'no reply';
    return { where: host, there: tosThere, back: tosBack, oneWayMs: udp.oneWayMs, clockUncertaintyMs };
  } catch (error) {
    return (error as Error).message;
  }
}

const TRIES = 20;
const WAIT_NS = 20e6;
/** The kernel does not stamp the first packet or two. */
const FIRST_STAMPED = 3;

/** A link socket sends to a probe socket that reads marks; two probe sockets exchange four stamps, like the roles. */
async function ownMarks(): Promise<Marks | string> {
  const spec = { name: 'doctor', host: '127.0.0.1', port: 0 };
  try {
    const link = await openNativeReactor([spec]);
    const [near, far] = await Promise.all([
      openProbeSocket('udp', '127.0.0.1', 0, TOS_EF),
      openProbeSocket('udp', '127.0.0.1', 0, TOS_EF),
    ]);
    link.send(0, Uint8Array.of(1), 1, peerOf('127.0.0.1', far.port));
    const there = far.wait(WAIT_NS) ? far.receive()?.tos : undefined;
    const sync = new ClockSync();
    for (let i = 0; i < TRIES; i++) {
      const stamps = exchange(near, far);
      if (i >= FIRST_STAMPED && stamps !== null) sync.add(...stamps);
    }
    for (const socket of [link, near, far]) socket.close();
    return {
      where: 'this machine',
      there: there === undefined || there < 0 ? null : there,
      back: null,
      oneWayMs: null,
      clockUncertaintyMs: sync.synchronized ? sync.uncertaintyNs / 1e6 : null,
    };
  } catch (error) {
    return (error as Error).message;
  }
}

function exchange(near: ProbeSocket, far: ProbeSocket): [number, number, number, number] | null {
  const t0 = monotonicClock.nowNs();
  near.send(Uint8Array.of(1), '127.0.0.1', far.port);
  const request = far.wait(WAIT_NS) ? far.receive() : null;
  const t2 = monotonicClock.nowNs();
  far.send(Uint8Array.of(1), '127.0.0.1', near.port);
  const reply = near.wait(WAIT_NS) ? near.receive() : null;
  return request && reply ? [t0, request.kernelNs, t2, reply.kernelNs] : null;
}

/** Whether the port on loopback is free. */
export function isPortFree(kind: 'udp' | 'tcp', port: number): Promise<boolean> {
  return new Promise((resolve) => {
    if (kind === 'tcp') {
      const server = createServer();
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
      return;
    }
    const socket = createSocket('udp4');
    const end = (free: boolean) => socket.close(() => resolve(free));
    socket.once('error', () => end(false));
    socket.bind({ address: '127.0.0.1', port, exclusive: true }, () => end(true));
  });
}
