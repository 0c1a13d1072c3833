import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { type Given, JSON_OPTION, numberOption, type Verb } from '../../src/cli/arguments.ts';
import { type Percentiles, percentiles } from '../../src/core/statistics/percentiles.ts';
import { type Authority, createAuthority, issue } from '../../src/fleet/authority.ts';
import { connectFleet } from '../../src/fleet/connection.ts';
import { LeaseStore } from '../../src/fleet/lease-store.ts';
import type { FleetRole } from '../../src/fleet/roles.ts';
import { type RunningServer, startServer } from '../../src/fleet/server-process.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { print } from '../bench.ts';
import { environment, environmentText, type LoadSeen, loadText, meterLoad } from '../environment.ts';
import { Progress } from '../progress.ts';
import { type Load, type OperatorsDone, PRESENCE_HZ, type RobotsDone, TELEMETRY_HZ } from './shared.ts';

const SIZES = [10, 100, 1000];
const MOST_LEASES = 50;
/** Threads that run the robots. */
const SHARES = 4;
const LEAST_PRESENCE = 0.95;
/** Time to connect a thousand robots, with their keys, on a busy machine. */
const CONNECT_S = 12;
const TICKS_PER_S = 100;

export interface Sized {
  robots: number;
  leases: number;
  connectS: number;
  cpuPercent: number;
  rssMb: number;
  messagesPerS: number;
  telemetryShare: number;
  presenceShare: number;
  renewMs: Percentiles | null;
  signalMs: Percentiles | null;
  pollMs: Percentiles | null;
  leasesLost: number;
  signalsLost: number;
  load: LoadSeen;
}

export const fleetBench: Verb = {
  name: 'fleet',
  usage: '[--seconds S]',
  about: 'Simulated robots and operators on one NATS server: 10, 100 and 1,000, with 50 leases.',
  details: `Every robot has its own connection: presence at ${PRESENCE_HZ} Hz, telemetry at ${TELEMETRY_HZ} Hz. Every lease is renewed twice a second
and checked by its robot; its operator signals the robot once a second. Needs nats-server.
Requirements: no lease lost, ${100 * LEAST_PRESENCE} % of presence seen. See docs/scale.md.`,
  options: {
    seconds: { type: 'string', value: 'S', about: 'seconds to measure per size (default: 8)' },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    const seconds = numberOption(given, 'seconds', 2, 25) ?? 8;
    const folder = mkdtempSync(path.join(tmpdir(), 'farhand-fleet-bench-'));
    const progress = new Progress(SIZES.length, SIZES.length * (seconds + CONNECT_S));
    let server: RunningServer | undefined;
    try {
      const authority = await createAuthority(path.join(folder, 'keys'));
      const [port] = await freeUdpPorts(1);
      server = await startServer(authority, { name: 'bench', host: '127.0.0.1', port: port! });
      const creds = await credentials(authority);
      const admin = await connectFleet(server.url, creds.admin);
      await LeaseStore.create(admin.nats);
      await admin.close();
      const sizes: Sized[] = [];
      for (const robots of SIZES)
        sizes.push(
          await progress.during(`${robots} robots`, seconds + CONNECT_S, () =>
            measure(server!, {
              ...creds,
              url: server!.url,
              first: 0,
              robots,
              leases: Math.min(MOST_LEASES, robots),
              seconds,
            }),
          ),
        );
      const passed = sizes.every(
        ({ leasesLost, presenceShare }) => leasesLost === 0 && presenceShare >= LEAST_PRESENCE,
      );
      print(given, { seconds, sizes, passed, environment: environment() }, text(sizes, passed));
      return passed ? 0 : 1;
    } finally {
      await server?.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function credentials(authority: Authority) {
  const make = async (name: string, role: FleetRole) => {
    const file = path.join(authority.folder, `${name}.creds`);
    writeFileSync(
      file,
      await issue(authority, { name, role, robots: ['*'], seconds: 3600 }, Date.now() / 1000),
    );
    return file;
  };
  return {
    admin: await make('admin', 'admin'),
    robotCreds: await make('sims', 'robot'),
    operatorCreds: await make('people', 'operator'),
  };
}

async function measure(server: RunningServer, workerData: Load & { admin: string }): Promise<Sized> {
  const { robots, leases, seconds } = workerData;
  const startedMs = performance.now();
  const start = (name: string, share: Load) =>
    new Worker(new URL(`./${name}-worker.js`, import.meta.url), { workerData: share });
  const count = Math.min(SHARES, robots);
  const shares = Array.from({ length: count }, (_, i) => {
    const first = Math.floor((i * robots) / count);
    return { ...workerData, first, robots: Math.floor(((i + 1) * robots) / count) - first };
  });
  const sides = [start('operators', workerData), ...shares.map((share) => start('robots', share))];
  await Promise.all(sides.map((side) => once(side, 'message')));
  const connectS = (performance.now() - startedMs) / 1000;
  const pid = server.process.pid!;
  const [before, seen, fromMs] = [cpuTicks(pid), meterLoad(), performance.now()];
  const results = sides.map((side) => once(side, 'message'));
  for (const side of sides) side.postMessage('go');
  const [[operators], ...reported] = (await Promise.all(results)) as [[OperatorsDone], ...[RobotsDone][]];
  const published = reported.reduce((sum, [{ published: n }]) => sum + n, 0);
  const tookS = (performance.now() - fromMs) / 1000;
  const cpuPercent = ((cpuTicks(pid) - before) / TICKS_PER_S / tookS) * 100;
  const rssMb = residentMb(pid);
  const load = seen();
  const ended = sides.map((side) => once(side, 'exit'));
  for (const side of sides) side.postMessage('end');
  await Promise.all(ended);
  return {
    ...{ robots, leases, connectS, cpuPercent, rssMb, load },
    messagesPerS: (published * (1 + PRESENCE_HZ / TELEMETRY_HZ)) / tookS,
    telemetryShare: operators.telemetryReceived / (leases * TELEMETRY_HZ * seconds),
    presenceShare: operators.presenceReceived / (robots * PRESENCE_HZ * seconds),
    renewMs: percentiles(operators.renewMs),
    signalMs: percentiles(operators.signalMs),
    pollMs: percentiles(reported.flatMap(([{ pollMs }]) => pollMs)),
    ...{ leasesLost: operators.leasesLost, signalsLost: operators.signalsLost },
  };
}

function cpuTicks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

function text(sizes: readonly Sized[], passed: boolean): string {
  const spread = (p: Percentiles | null) => (p ? `${p.p50.toFixed(1)} / ${p.p99.toFixed(1)}` : '–');
  const head = [
    'robots',
    'leases',
    'msg/s',
    'server CPU',
    'memory',
    'renew p50/p99',
    'signal p50/p99',
    'ask p50/p99',
  ];
  const rows = sizes.map((s) => [
    ...[String(s.robots), String(s.leases), s.messagesPerS.toFixed(0), `${s.cpuPercent.toFixed(1)} %`],
    ...[`${s.rssMb.toFixed(0)} MB`, spread(s.renewMs), spread(s.signalMs), spread(s.pollMs)],
  ]);
  const line = (cells: readonly string[]) => cells.map((cell, i) => cell.padStart(i < 5 ? 11 : 16)).join('');
  const bars = (title: string, value: (s: Sized) => number, unit: string) => {
    const most = Math.max(...sizes.map(value));
    const bar = (s: Sized) => '█'.repeat(Math.max(1, Math.round((value(s) / most) * 40)));
    return [
      title,
      ...sizes.map((s) => `${String(s.robots).padStart(6)} ${bar(s)} ${value(s).toFixed(1)} ${unit}`),
    ];
  };
  return [
    environmentText(environment()),
    '',
    line(head),
    ...rows.map(line),
    '',
    ...bars('server CPU', (s) => s.cpuPercent, '% of a core'),
    ...bars('server memory', (s) => s.rssMb, 'MB'),
    ...bars('lease renewal p99', (s) => s.renewMs?.p99 ?? 0, 'ms'),
    '',
    ...sizes.map(
      (s) =>
        `${s.robots} robots: connected in ${s.connectS.toFixed(1)} s; presence seen ${(100 * s.presenceShare).toFixed(1)} %, ` +
        `telemetry ${(100 * s.telemetryShare).toFixed(1)} %; ${s.leasesLost} leases and ${s.signalsLost} requests lost; ${loadText(s.load)}`,
    ),
    'Times in milliseconds. Robots and operators share this machine with the server.',
    passed ? 'requirements met' : 'REQUIREMENT NOT MET',
  ].join('\n');
}
