import { type ChildProcess, spawn } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { deferred } from '../core/deferred.ts';
import { type Percentiles, percentiles } from '../core/statistics/percentiles.ts';
import { monotonicClock } from '../core/time/clock.ts';
import { ClockSync } from '../wire/clock-sync.ts';
import { loadLibc } from '../wire/transports/libc.ts';
import type { Place } from './place.ts';
import { icmpRefusal, type ProbeLeg, type ProbeRequest, type ProbeResult } from './prober.ts';

/** Latency of the same path without our software, at the same time and rate. */
export interface BaselineLeg {
  method: string;
  sent: number;
  lost: number;
  /** Half the round trip on the wire, milliseconds. */
  oneWayMs: Percentiles | null;
  /** Milliseconds one way, and when: operator's clock. */
  samples: { atNs: number; ms: number }[];
}

export interface Baseline {
  udp: BaselineLeg | null;
  icmp: BaselineLeg | null;
  /** What could not be measured, and why. */
  notes: string[];
  /** Clock uncertainty from the probes alone; null without a reply. */
  clockUncertaintyMs: number | null;
  /** DSCP marks (TOS byte) seen by the echo and on its replies; null if unknown. */
  tosThere: number | null;
  tosBack: number | null;
}

/** The best answered probes: UDP, which takes the same path as the commands, else ICMP. */
export function bestLeg(baseline: Baseline | null): BaselineLeg | null {
  const legs = [baseline?.udp, baseline?.icmp];
  return legs.find((leg) => leg?.oneWayMs) ?? null;
}

export interface BaselineProcess {
  stop(): Promise<Baseline>;
}

const PROCESS = fileURLToPath(new URL('./prober-process.js', import.meta.url));

/** Starts the probes at the place's sending end. Without permission for ICMP sockets, uses the `ping` program. */
export async function startBaseline(place: Place, probes: ProbeRequest): Promise<BaselineProcess> {
  const request = {
    ...probes,
    udp: probes.udp && { ...probes.udp, host: await addressOf(probes.udp.host) },
    icmpHost: probes.icmpHost && (await addressOf(probes.icmpHost)),
  };
  const [command, ...args] = place.at('tx', [process.execPath, PROCESS, JSON.stringify(request)]);
  const child = spawn(command!, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const output = collect(child);
  // A blank line: it is ready. A busy machine may take longer to start it than the whole measurement.
  await Promise.race([once(child.stdout, 'data'), output]);
  const { icmpHost } = request;
  const ping = icmpHost !== null && (await isIcmpRefused()) ? startPing(place, icmpHost, request.hz) : null;
  return {
    async stop() {
      child.kill('SIGTERM');
      const pinged = (await ping?.stop()) ?? null;
      const { stdout, stderr } = await output;
      try {
        return baselineOf(JSON.parse(stdout) as ProbeResult, pinged);
      } catch {
        const why = stderr.trim().split('\n').at(-1) ?? '';
        return {
          ...baselineOf({ udp: null, icmp: null, icmpRefused: null }, null),
          notes: [`no probes: ${why}`],
        };
      }
    },
  };
}

const isIcmpRefused = (): Promise<boolean> =>
  loadLibc().then(
    (libc) => icmpRefusal(libc) !== null,
    () => true,
  );

async function addressOf(host: string): Promise<string> {
  return (await lookup(host, { family: 4 })).address;
}

async function collect(child: ChildProcess): Promise<{ stdout: string; stderr: string }> {
  const text = { stdout: '', stderr: '' };
  child.stdout?.on('data', (data: Buffer) => {
    text.stdout += data.toString();
  });
  child.stderr?.on('data', (data: Buffer) => {
    text.stderr += data.toString();
  });
  const closed = deferred<void>();
  child.on('error', (error) => {
    text.stderr += error.message;
    closed.resolve();
  });
  child.on('close', () => closed.resolve());
  await closed.promise;
  return text;
}

function baselineOf(found: ProbeResult, pinged: BaselineLeg | null): Baseline {
  const { udp, icmp, icmpRefused } = found;
  const notes: string[] = [];
  if (icmpRefused !== null && pinged === null)
    notes.push(
      `ICMP is not permitted here (${icmpRefused}) and there is no ping program: run as root, or sysctl net.ipv4.ping_group_range="0 2147483647"`,
    );
  if (udp !== null && udp.samples.length === 0) notes.push('no reply to the UDP probes');
  if (icmp !== null && icmp.samples.length === 0) notes.push('no reply to the ICMP probes');
  const known = (tos: number | undefined) => (tos === undefined || tos < 0 ? null : tos);
  return {
    udp: udp && legOf(udp),
    icmp: icmp ? legOf(icmp) : icmpRefused === null ? null : pinged,
    notes,
    clockUncertaintyMs: udp && clockOf(udp),
    tosThere: known(udp?.tosThere),
    tosBack: known(udp?.tosBack),
  };
}

function legOf({ method, sent, samples }: ProbeLeg): BaselineLeg {
  const reported = samples.map(([atNs, ns]) => ({ atNs, ms: Math.max(0, ns) / 2e6 }));
  const oneWayMs = percentiles(reported.map(({ ms }) => ms));
  return { method, sent, lost: Math.max(0, sent - samples.length), oneWayMs, samples: reported };
}

function clockOf({ stamps }: ProbeLeg): number | null {
  const sync = new ClockSync();
  for (const [t0, t1, t2, t3] of stamps) sync.add(t0, t1, t2, t3);
  return sync.synchronized ? sync.uncertaintyNs / 1e6 : null;
}

/** The `ping` program, if we may not open ICMP sockets. */
function startPing(place: Place, host: string, hz: number): { stop(): Promise<BaselineLeg | null> } {
  const args = place.at('tx', ['ping', '-n', '-i', String(1 / hz), host]);
  const child = spawn(args[0]!, args.slice(1), { stdio: ['ignore', 'pipe', 'ignore'] });
  const samples: BaselineLeg['samples'] = [];
  let last = 0;
  child.on('error', () => {});
  child.stdout?.on('data', (data: Buffer) => {
    for (const [, seq, ms] of data.toString().matchAll(/icmp_seq=(\d+).*?time=([\d.]+) ms/g)) {
      last = Math.max(last, Number(seq));
      samples.push({ atNs: monotonicClock.nowNs() - Number(ms) * 1e6, ms: Number(ms) / 2 });
    }
  });
  const closed = once(child, 'close').catch(() => {});
  return {
    async stop() {
      child.kill('SIGTERM');
      await closed;
      if (samples.length === 0) return null;
      const oneWayMs = percentiles(samples.map(({ ms }) => ms));
      return { method: 'ICMP, ping program', sent: last, lost: last - samples.length, oneWayMs, samples };
    },
  };
}
