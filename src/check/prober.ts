import { setImmediate as turn } from 'node:timers/promises';
import { monotonicClock } from '../core/time/clock.ts';
import { Periodic } from '../core/time/periodic.ts';
import type { Libc } from '../wire/transports/libc.ts';
import { ProbeSocket, waitAny } from '../wire/transports/probe-socket.ts';
import { ECHO_BYTES, readEcho, TOS_EF, writeEcho } from './echo-packet.ts';

/** One kind of probe: sends on a tick and recognises its replies. */
interface OpenProbe {
  socket: ProbeSocket;
  send(seq: number): void;
  /** Round trip on the wire, or null if the packet is not a reply to one of our probes. */
  roundTripNs(length: number, arrivedNs: number): { sentNs: number; ns: number; tos: number } | null;
}

export interface ProbeLeg {
  /** "UDP echo", "ICMP, ping socket", … */
  method: string;
  sent: number;
  /** For each answered probe: when it was sent, monotonic, and its round trip on the wire. */
  samples: [sentNs: number, roundTripNs: number][];
  /** DSCP marks (TOS byte) seen by the echo and on its replies; −1 if unknown. */
  tosThere: number;
  tosBack: number;
  /** Four stamps of each exchange, if the other side stamps. */
  stamps: [number, number, number, number][];
}

export interface ProbeRequest {
  hz: number;
  udp: { host: string; port: number } | null;
  icmpHost: string | null;
}

export interface ProbeResult {
  udp: ProbeLeg | null;
  /** Null if not requested, or not permitted, with the reason in `icmpRefused`. */
  icmp: ProbeLeg | null;
  icmpRefused: string | null;
}

const GRACE_NS = 300e6;

/** Probes at a fixed rate until `isOver`, all kinds on the same ticks. Blocks its thread for up to a tick at a time. */
export async function probe(libc: Libc, request: ProbeRequest, isOver: () => boolean): Promise<ProbeResult> {
  const result: ProbeResult = { udp: null, icmp: null, icmpRefused: null };
  const probes: [OpenProbe, ProbeLeg][] = [];
  if (request.udp !== null) {
    result.udp = emptyLeg('UDP echo');
    probes.push([udpProbe(libc, request.udp.host, request.udp.port, result.udp), result.udp]);
  }
  if (request.icmpHost !== null) {
    const opened = icmpSocket(libc);
    if (typeof opened === 'string') result.icmpRefused = opened;
    else {
      result.icmp = emptyLeg(opened.method);
      probes.push([icmpProbe(opened.socket, opened.isRaw, request.icmpHost), result.icmp]);
    }
  }
  const sockets = probes.map(([probe]) => probe.socket);
  if (probes.length === 0) return result;
  const ticks = new Periodic(request.hz, monotonicClock.nowNs());
  let seq = 0;
  let endNs = Number.POSITIVE_INFINITY;
  while (monotonicClock.nowNs() < endNs) {
    if (endNs === Number.POSITIVE_INFINITY && isOver()) endNs = monotonicClock.nowNs() + GRACE_NS;
    if (ticks.due(monotonicClock.nowNs()) && endNs === Number.POSITIVE_INFINITY) {
      seq++;
      for (const [probe, leg] of probes) {
        leg.sent++;
        probe.send(seq);
      }
    }
    const waitNs = Math.min(ticks.nextNs - monotonicClock.nowNs(), 50e6);
    if (waitAny(libc, sockets, waitNs)) for (const [probe, leg] of probes) drain(probe, leg);
    await turn();
  }
  for (const socket of sockets) socket.close();
  return result;
}

const emptyLeg = (method: string): ProbeLeg => ({
  method,
  sent: 0,
  samples: [],
  tosThere: -1,
  tosBack: -1,
  stamps: [],
});

function drain(probe: OpenProbe, leg: ProbeLeg): void {
  for (let got = probe.socket.receive(); got !== null; got = probe.socket.receive()) {
    const nowNs = monotonicClock.nowNs();
    const arrivedNs = Number.isNaN(got.kernelNs) ? nowNs : Math.min(got.kernelNs, nowNs);
    const trip = probe.roundTripNs(got.length, arrivedNs);
    if (trip === null) continue;
    leg.samples.push([trip.sentNs, trip.ns]);
    if (trip.tos >= 0) leg.tosThere = trip.tos;
    leg.tosBack = got.tos;
  }
}

const STAMPS_KEPT = 4096;

function udpProbe(libc: Libc, host: string, port: number, leg: ProbeLeg): OpenProbe {
  const local = host.startsWith('127.') ? '127.0.0.1' : '0.0.0.0';
  const socket = new ProbeSocket(libc, 'udp', local, 0, TOS_EF);
  const bytes = new Uint8Array(new ArrayBuffer(ECHO_BYTES));
  return {
    socket,
    send(seq) {
      writeEcho('probe', { seq, t0Ns: monotonicClock.nowNs(), t1Ns: 0, t2Ns: 0, tos: -1 }, bytes);
      socket.send(bytes, host, port);
    },
    roundTripNs(length, arrivedNs) {
      const answer = readEcho('answer', socket.data, length);
      if (answer === null) return null;
      const { t0Ns, t1Ns, t2Ns, tos } = answer;
      if (leg.stamps.length < STAMPS_KEPT) leg.stamps.push([t0Ns, t1Ns, t2Ns, arrivedNs]);
      return { sentNs: t0Ns, ns: arrivedNs - t0Ns - (t2Ns - t1Ns), tos };
    },
  };
}

/** A ping socket if the group may open one, else a raw one if the user may; or the reasons for failure. */
function icmpSocket(libc: Libc): { socket: ProbeSocket; isRaw: boolean; method: string } | string {
  const refused: string[] = [];
  for (const kind of ['icmp', 'icmp-raw'] as const)
    try {
      const socket = new ProbeSocket(libc, kind, '0.0.0.0', 0, TOS_EF);
      const isRaw = kind === 'icmp-raw';
      return { socket, isRaw, method: `ICMP, ${isRaw ? 'raw' : 'ping'} socket` };
    } catch (error) {
      refused.push(`${kind === 'icmp' ? 'ping' : 'raw'} socket ${(error as Error).message}`);
    }
  return refused.join(', ');
}

/** Why this user may not open ICMP sockets; null if they may. */
export function icmpRefusal(libc: Libc): string | null {
  const opened = icmpSocket(libc);
  if (typeof opened === 'string') return opened;
  opened.socket.close();
  return null;
}

const ICMP_BYTES = 64;
const ECHO_REQUEST = 8;
const ECHO_REPLY = 0;

function icmpProbe(socket: ProbeSocket, isRaw: boolean, host: string): OpenProbe {
  const bytes = new Uint8Array(new ArrayBuffer(ICMP_BYTES));
  const view = new DataView(bytes.buffer);
  const id = process.pid & 0xffff;
  const sentNs = new Float64Array(65536);
  return {
    socket,
    send(seq) {
      view.setUint8(0, ECHO_REQUEST);
      view.setUint16(2, 0);
      view.setUint16(4, id);
      view.setUint16(6, seq & 0xffff);
      view.setUint16(2, checksum(bytes));
      sentNs[seq & 0xffff] = monotonicClock.nowNs();
      socket.send(bytes, host, 0);
    },
    roundTripNs(_length, arrivedNs) {
      const from = isRaw ? 4 * (socket.data[0]! & 15) : 0;
      const got = new DataView(socket.data.buffer, from, 8);
      // The kernel chooses the identifier of a ping socket, which receives only its own replies.
      if (got.getUint8(0) !== ECHO_REPLY || (isRaw && got.getUint16(4) !== id)) return null;
      const seq = got.getUint16(6);
      const startNs = sentNs[seq]!;
      sentNs[seq] = 0;
      return startNs === 0 ? null : { sentNs: startNs, ns: arrivedNs - startNs, tos: -1 };
    },
  };
}

function checksum(bytes: Uint8Array): number {
  let sum = 0;
  for (let i = 0; i < bytes.length; i += 2) sum += bytes[i]! * 256 + (bytes[i + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
