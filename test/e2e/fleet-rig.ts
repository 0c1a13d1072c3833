import { createSocket } from 'node:dgram';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAudit } from '../../src/fleet/audit.ts';
import { type Authority, createAuthority, issue } from '../../src/fleet/authority.ts';
import { connectFleet, type FleetConnection } from '../../src/fleet/connection.ts';
import { LeaseBucket } from '../../src/fleet/leases/lease-bucket.ts';
import { LeaseClient } from '../../src/fleet/leases/lease-client.ts';
import type { FleetRole } from '../../src/fleet/roles.ts';
import { type RunningServer, type ServerPlace, startServer } from '../../src/fleet/server-process.ts';
import { type RunningServices, startServices } from '../../src/fleet/store/services.ts';
import { writeFrame } from '../../src/wire/codecs/frame.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import type { Running } from './farhand.ts';

/** A transition of the supervisor, as a robot process prints it with `--json`. */
export interface Transition {
  kind: string;
  from: string;
  to: string;
  cause: string;
  robotNs: number;
}

/** Writes credentials for the robot `arm`, valid for an hour, to a file. */
export async function writeCredentials(
  authority: Authority,
  folder: string,
  name: string,
  role: FleetRole,
  robots: readonly string[] = ['arm'],
): Promise<string> {
  const file = path.join(folder, `${name}.creds`);
  const who = { name, role, robots, seconds: 3600 };
  writeFileSync(file, await issue(authority, who, Date.now() / 1000), { mode: 0o600 });
  return file;
}

export const transitionsOf = (robot: Running): Transition[] =>
  robot
    .stdout()
    .split('\n')
    .filter((line) => line.includes('"transition"'))
    .map((line) => JSON.parse(line) as Transition);

/** The first transition to `to` after the first `seen`; `more` adds context to the error. */
export async function nextTransition(
  robot: Running,
  seen: number,
  to: string,
  withinMs: number,
  more: () => string = () => '',
): Promise<Transition> {
  for (const untilMs = performance.now() + withinMs; performance.now() < untilMs; await sleep(5)) {
    const found = transitionsOf(robot)
      .slice(seen)
      .find((transition) => transition.to === to);
    if (found) return found;
  }
  throw new Error(`not ${to} within ${withinMs} ms:\n${robot.stdout()}\n${robot.stderr()}\n${more()}`);
}

/** A fleet on this machine: its keys, a server, the store and its services. */
export interface FleetWorld {
  authority: Authority;
  readonly server: RunningServer;
  /** Of the store: reads and changes everything in it. */
  admin: FleetConnection;
  /** Of the users: sees and drives every robot. */
  boss: FleetConnection;
  leases: LeaseClient;
  services: RunningServices;
  credentials(name: string, role: FleetRole, robots?: readonly string[]): Promise<string>;
  enter(name: string, role: FleetRole, robots?: readonly string[]): Promise<FleetConnection>;
  /** Starts the server again after it was killed. */
  startAgain(): Promise<void>;
  close(): Promise<void>;
}

/** Starts it in a folder. `place`: other settings of the server; `within`: words before its command. */
export async function startFleetWorld(
  folder: string,
  place: Partial<ServerPlace> = {},
  within: readonly string[] = [],
): Promise<FleetWorld> {
  const closing: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const end of closing.splice(0).reverse()) await end();
  };
  try {
    const authority = await createAuthority(path.join(folder, 'fleet'));
    const port = place.port ?? (await freeUdpPorts(1))[0]!;
    const start = () => startServer(authority, { name: 'one', host: '127.0.0.1', ...place, port }, within);
    let server = await start();
    closing.push(() => server.close());
    const credentials: FleetWorld['credentials'] = (name, role, robots = ['arm']) =>
      writeCredentials(authority, folder, name, role, robots);
    const enter: FleetWorld['enter'] = async (name, role, robots) => {
      const file = await credentials(name, role, robots);
      const connection = await connectFleet(server.url, file, { plainBeyondLoopback: true });
      closing.push(() => connection.close());
      return connection;
    };
    const admin = await enter('root', 'admin', ['*']);
    await LeaseBucket.create(admin.nats);
    await createAudit(admin.nats);
    const leaseKey = authority.leaseKeys['']!.present;
    const file = await credentials('service', 'service', ['*']);
    const services = await startServices({
      ...{ url: server.url, credentials: file, leaseKey, plainBeyondLoopback: true },
      roster: await credentials('roster', 'roster', ['*']),
    });
    closing.push(() => services.close());
    const boss = await enter('boss', 'operator', ['*']);
    const leases = new LeaseClient(boss);
    return {
      ...{ authority, admin, boss, leases, services, credentials, enter, close },
      get server() {
        return server;
      },
      async startAgain() {
        server = await start();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A request of a page to the operator role on this machine. */
export async function askDesk(deskPort: number, kind: string): Promise<void> {
  const out = new Uint8Array(128);
  const length = writeFrame('request', { kind }, out);
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.send(out, 0, length, deskPort, '127.0.0.1', () => resolve()));
  socket.close();
}
