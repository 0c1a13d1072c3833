import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { type Given, JSON_OPTION, numberOption, type Verb } from '../../src/cli/arguments.ts';
import { type Percentiles, percentiles } from '../../src/core/statistics/percentiles.ts';
import { createAudit } from '../../src/fleet/audit.ts';
import { type Authority, createAuthority, issue } from '../../src/fleet/authority.ts';
import { connectFleet, type FleetConnection } from '../../src/fleet/connection.ts';
import { LeaseBucket } from '../../src/fleet/leases/lease-bucket.ts';
import { publicKeyOf } from '../../src/fleet/leases/lease-keys.ts';
import { loadJwt } from '../../src/fleet/nats-module.ts';
import { type RunningServer, startServer } from '../../src/fleet/server-process.ts';
import { subjects } from '../../src/fleet/subjects.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { print } from '../bench.ts';
import { environment, environmentText, type LoadSeen, loadText, meterLoad } from '../environment.ts';
import { Progress } from '../progress.ts';
import { userMaker } from './make-users.ts';
import {
  type OperatorsDone,
  operatorUser,
  type RobotsDone,
  robotName,
  robotUser,
  type Share,
} from './shared.ts';

const SIZES = [10, 100, 1000];
/** Robots of one thread. */
const PER_THREAD = 2500;
/** One in ten robots is leased, unless an option says otherwise. */
const LEASED_SHARE = 0.1;
const IDLE_HZ = 0.2;
const LEAST_PRESENCE = 0.95;
/** Time to connect a thousand robots, with their keys, on a busy machine. */
const CONNECT_S = 20;
const TICKS_PER_S = 100;

export interface Sized {
  robots: number;
  servers: number;
  leases: number;
  connectS: number;
  /** Of all servers together. */
  cpuPercent: number;
  rssMb: number[];
  /** Sent by one robot that nobody drives. */
  idleHz: number;
  presenceShare: number;
  renewMs: Percentiles | null;
  signalMs: Percentiles | null;
  renewals: number;
  lost: number;
  leasesLost: number;
  ended: number;
  reasons: string[];
  load: LoadSeen;
}

export const fleetBench: Verb = {
  name: 'fleet',
  usage: '[--robots N] [--leases N] [--servers 1|3] [--seconds S]',
  about: 'Agents of fleet robots, without robots, and operators that lease some of them, on real servers.',
  details: `Every robot is the agent that runs beside a real one, with its own key and connection. Every operator has its own,
too: it asks its robot for a nonce and renews the lease with it every 2 s. Three lease services run. Needs nats-server.
Requirements: no request, lease or connection lost, ${100 * LEAST_PRESENCE} % of presence seen. See docs/scale.md.`,
  options: {
    robots: { type: 'string', value: 'N', about: `robots (default: ${SIZES.join(', ')} in turn)` },
    leases: { type: 'string', value: 'N', about: 'leased robots (default: one in ten)' },
    servers: { type: 'string', value: 'N', about: 'servers: 1 or 3 (default: 1)' },
    seconds: { type: 'string', value: 'S', about: 'seconds to measure per size (default: 10)' },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    const seconds = numberOption(given, 'seconds', 5, 120) ?? 10;
    const robots = numberOption(given, 'robots', 1, 20_000);
    const servers = (numberOption(given, 'servers', 1, 3) ?? 1) === 1 ? 1 : 3;
    const counts = robots === null ? SIZES : [robots];
    const progress = new Progress(counts.length, counts.length * (seconds + CONNECT_S));
    const sizes: Sized[] = [];
    for (const count of counts) {
      const leases = Math.min(
        count,
        numberOption(given, 'leases', 0, count) ?? Math.ceil(count * LEASED_SHARE),
      );
      const label = `${count} robots`;
      sizes.push(
        await progress.during(label, seconds + CONNECT_S, () =>
          measure({ robots: count, leases, servers, seconds }),
        ),
      );
    }
    const passed = sizes.every(isGood);
    print(given, { seconds, sizes, passed, environment: environment() }, text(sizes, passed));
    return passed ? 0 : 1;
  },
};

const isGood = ({ lost, leasesLost, ended, presenceShare }: Sized): boolean =>
  lost === 0 && leasesLost === 0 && ended === 0 && presenceShare >= LEAST_PRESENCE;

interface Size {
  robots: number;
  leases: number;
  servers: number;
  seconds: number;
}

/** A fleet's servers and services, and the credentials of its robots and operators. */
class BenchFleet {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'farhand-fleet-bench-'));
  readonly servers: RunningServer[] = [];
  readonly workers: Worker[] = [];
  console!: FleetConnection;

  get url(): string {
    return this.servers.map(({ url }) => url).join(',');
  }

  async start({ robots, leases, servers }: Size): Promise<void> {
    const authority = await createAuthority(path.join(this.folder, 'keys'));
    const ports = await freeUdpPorts(2 * servers);
    const routes = ports.slice(servers).map((port) => `nats-route://127.0.0.1:${port}`);
    const place = (i: number) => ({
      ...{ name: `n${i}`, host: '127.0.0.1', port: ports[i]! },
      ...(servers === 1
        ? {}
        : { cluster: { name: 'bench', host: '127.0.0.1', port: ports[servers + i]!, routes } }),
    });
    const starting = Array.from({ length: servers }, (_, i) => startServer(authority, place(i)));
    this.servers.push(...(await Promise.all(starting)));
    await this.#serve(authority, servers);
    await writeUsers(authority, this.folder, robots, leases);
    this.console = await connectFleet(this.url, path.join(this.folder, 'console.creds'));
  }

  async #serve(authority: Authority, servers: number): Promise<void> {
    const write = async (name: 'admin' | 'service') => {
      const file = path.join(this.folder, `${name}.creds`);
      const who = { name, role: name, robots: ['*'], seconds: 36_000 };
      writeFileSync(file, await issue(authority, who, Date.now() / 1000));
      return file;
    };
    const admin = await connectFleet(this.url, await write('admin'));
    for (let left = 60; ; left--)
      try {
        await LeaseBucket.create(admin.nats, servers);
        await createAudit(admin.nats, servers);
        break;
      } catch (error) {
        if (left === 0) throw error;
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    await admin.close();
    const credentials = await write('service');
    const leaseKey = authority.leaseKeys['']!.present;
    const services = [1, 2, 3].map(() => this.thread('services', { url: this.url, credentials, leaseKey }));
    await Promise.all(services.map((each) => once(each, 'message')));
  }

  thread(name: string, workerData: object): Worker {
    const worker = new Worker(new URL(`./${name}-worker.js`, import.meta.url), { workerData });
    this.workers.push(worker);
    return worker;
  }

  async close(): Promise<void> {
    const ended = this.workers.map((worker) => once(worker, 'exit'));
    for (const worker of [...this.workers].reverse()) worker.postMessage('end');
    await Promise.race([Promise.all(ended), new Promise((resolve) => setTimeout(resolve, 15_000))]);
    await Promise.all(this.workers.map((worker) => worker.terminate()));
    await this.console?.close();
    await Promise.all(this.servers.map((server) => server.close()));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function writeUsers(
  authority: Authority,
  folder: string,
  robots: number,
  leases: number,
): Promise<void> {
  const { fromSeed } = await loadJwt();
  const seed = authority.usersSeed;
  const publicKey = fromSeed(new TextEncoder().encode(seed)).getPublicKey();
  const keys = Object.values(authority.leaseKeys['']!).map((key) => `lease:${publicKeyOf(String(key))}`);
  const make = userMaker({ seed, publicKey }, keys);
  mkdirSync(folder, { recursive: true });
  const write = (role: 'robot' | 'operator', name: string, of: string) =>
    writeFileSync(path.join(folder, `${name}.creds`), make(role, name, [of]));
  for (let n = 0; n < robots; n++) write('robot', robotUser(n), robotName(n));
  for (let n = 0; n < leases; n++) write('operator', operatorUser(n), robotName(n));
  write('operator', 'console', 'bench/*');
}

async function measure(size: Size): Promise<Sized> {
  const fleet = new BenchFleet();
  try {
    await fleet.start(size);
    let received = 0;
    fleet.console.nats.subscribe(subjects.presence('bench/*'), { callback: () => void received++ });
    await fleet.console.nats.flush();
    const { agents, people, connectS } = await connectAll(fleet, size);
    const pids = fleet.servers.map(({ process: child }) => child.pid!);
    const cpu = () => pids.reduce((sum, pid) => sum + cpuTicks(pid), 0);
    const [before, seen, fromMs] = [cpu(), meterLoad(), performance.now()];
    received = 0;
    const reported = await measured([...agents, ...people], size.seconds);
    const tookS = (performance.now() - fromMs) / 1000;
    const cpuPercent = ((cpu() - before) / TICKS_PER_S / tookS) * 100;
    return {
      ...{ ...size, connectS, cpuPercent, rssMb: pids.map(residentMb), load: seen() },
      presenceShare: received / (size.robots * IDLE_HZ * tookS),
      ...figures(
        reported.slice(0, agents.length) as RobotsDone[],
        reported.slice(agents.length) as OperatorsDone[],
        tookS,
        size.robots,
      ),
    };
  } finally {
    await fleet.close();
  }
}

async function connectAll(fleet: BenchFleet, { robots, leases }: Size) {
  const startedMs = performance.now();
  const share = (first: number, count: number): Share => ({
    ...{ url: fleet.url, folder: fleet.folder, first, robots: count },
  });
  const parts = Array.from({ length: Math.ceil(robots / PER_THREAD) }, (_, i) => i * PER_THREAD);
  const agents = parts.map((first) =>
    fleet.thread('robots', share(first, Math.min(PER_THREAD, robots - first))),
  );
  await Promise.all(agents.map((each) => once(each, 'message')));
  const connectS = (performance.now() - startedMs) / 1000;
  const people = leases === 0 ? [] : [fleet.thread('operators', share(0, leases))];
  await Promise.all(people.map((each) => once(each, 'message')));
  return { agents, people, connectS };
}

/** What each thread reports about that time. */
async function measured(sides: readonly Worker[], seconds: number): Promise<unknown[]> {
  for (const side of sides) side.postMessage('go');
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const results = sides.map((side) => once(side, 'message'));
  for (const side of sides) side.postMessage('stop');
  return (await Promise.all(results)).map(([each]) => each as unknown);
}

function figures(
  agents: readonly RobotsDone[],
  people: readonly OperatorsDone[],
  tookS: number,
  robots: number,
) {
  const sum = <T>(all: readonly T[], of: (each: T) => number) =>
    all.reduce((total, each) => total + of(each), 0);
  const answered = people.flatMap(({ signalMs }) => signalMs);
  return {
    idleHz: (sum(agents, ({ sent }) => sent) - answered.length) / tookS / robots,
    renewMs: percentiles(people.flatMap(({ renewMs }) => renewMs)),
    signalMs: percentiles(answered),
    renewals: sum(people, ({ renewMs }) => renewMs.length),
    lost: sum(people, ({ lost }) => lost),
    leasesLost: sum(people, ({ leasesLost }) => leasesLost),
    ended: sum(agents, ({ ended }) => ended),
    reasons: people.flatMap(({ reasons }) => reasons),
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
    'servers',
    'leases',
    'CPU',
    'memory',
    'idle msg/s',
    'renew p50/p99',
    'signal p50/p99',
  ];
  const rows = sizes.map((s) => [
    ...[String(s.robots), String(s.servers), String(s.leases), `${s.cpuPercent.toFixed(1)} %`],
    ...[`${Math.max(...s.rssMb).toFixed(0)} MB`, s.idleHz.toFixed(2), spread(s.renewMs), spread(s.signalMs)],
  ]);
  const line = (cells: readonly string[]) => cells.map((cell, i) => cell.padStart(i < 6 ? 11 : 18)).join('');
  return [
    ...[environmentText(environment()), '', line(head), ...rows.map(line), ''],
    ...sizes.map(
      (s) =>
        `${s.robots} robots: connected in ${s.connectS.toFixed(1)} s; presence seen ${(100 * s.presenceShare).toFixed(1)} %; ` +
        `${s.renewals} renewals; lost: ${s.lost} requests, ${s.leasesLost} leases, ${s.ended} connections; ${loadText(s.load)}` +
        (s.reasons.length > 0 ? `\n  ${s.reasons.join('\n  ')}` : ''),
    ),
    'Times in milliseconds. CPU of all servers, memory of the largest. Everything shares this machine.',
    passed ? 'requirements met' : 'REQUIREMENT NOT MET',
  ].join('\n');
}
