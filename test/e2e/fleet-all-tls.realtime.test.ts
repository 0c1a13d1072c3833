import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Authority, createAuthority, issue } from '../../src/fleet/authority.ts';
import type { FleetRole } from '../../src/fleet/roles.ts';
import { makeRouteCertificate } from '../../src/fleet/route-certificates.ts';
import { type RunningServer, startServer } from '../../src/fleet/server-process.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { farhand, type Running, startFarhand } from './farhand.ts';
import { nextTransition } from './fleet-rig.ts';
import { startTap, type Tap } from './tap.ts';

const skip = needs('nats-server');
const HOST = '127.0.0.1';
const HERE = 'fleet.rtcAddress=127.0.0.1';
const ARM = 'hall-2/arm';
/** What NATS says at the start of a connection, and what our subjects begin with. */
const READABLE = /CONNECT \{|\bfarhand\.|\b[RL]S\+ |\b[RL]MSG |\bHPUB |eyJ0eXAiOiJKV1Qi/;

// Three servers, two services, a robot and an operator start as processes.
describe('a fleet with TLS on every link', { skip, timeout: 180_000 }, () => {
  const folder = temporaryFolder();
  const servers: RunningServer[] = [];
  const running: Running[] = [];
  const taps: Record<string, Tap> = {};
  let authority: Authority;
  let robot: Running;

  const write = async (name: string, role: FleetRole, robots: string[], site?: string) => {
    const file = path.join(folder, `${name}.creds`);
    writeFileSync(
      file,
      await issue(authority, { name, role, robots, seconds: 3600, site }, Date.now() / 1000),
    );
    return file;
  };
  const run = (args: string[]): Running => {
    const child = startFarhand(args);
    running.push(child);
    return child;
  };
  const url = (tap: string) => `tls://localhost:${taps[tap]!.port}`;

  before(async () => {
    authority = await createAuthority(path.join(folder, 'fleet'));
    const files = path.join(folder, 'certificate');
    mkdirSync(files);
    makeRouteCertificate(authority.folder, files, 'localhost', Date.now());
    const [cert, key, ca] = ['route.pem', 'route.key', 'route-ca.pem'].map((name) =>
      path.join(files, name),
    ) as [string, string, string];
    process.env['NODE_EXTRA_CA_CERTS'] = ca;
    const tls = { cert, key };
    const ports = await freeUdpPorts(6);
    const [first, second, site, leafPort, route1, route2] = ports as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const tapped = { client: first, second, site, leaf: leafPort, route: route1, 'route back': route2 };
    for (const [name, port] of Object.entries(tapped)) taps[name] = await startTap(port);
    const cluster = (port: number, to: string) => ({
      ...{ name: 'fleet', host: HOST, port, tls: { cert, key, ca } },
      routes: [`nats-route://localhost:${taps[to]!.port}`],
    });
    const start = async (place: Parameters<typeof startServer>[1]) =>
      void servers.push(await startServer(authority, place));
    await Promise.all([
      start({ name: 'n1', host: HOST, port: first, tls, leafPort, cluster: cluster(route1, 'route back') }),
      start({ name: 'n2', host: HOST, port: second, tls, cluster: cluster(route2, 'route') }),
    ]);
    const credentials = await write('hall-2', 'site', ['hall-2/*']);
    const leafOf = { url: url('leaf'), credentials, ca };
    await start({ name: 'hall-2', host: HOST, port: site, tls, leafOf });
    await Promise.all([
      serve('client', await write('admin', 'admin', ['*']), await write('service', 'service', ['*']), [
        ...['--except', 'hall-2/*', '--lease-key', leaseKey('')],
      ]),
      serve(
        'site',
        await write('site-admin', 'admin', ['*'], 'hall-2'),
        await write('site-service', 'service', ['*'], 'hall-2'),
        [...['--robots', 'hall-2/*', '--site-creds', credentials, '--lease-key', leaseKey('hall-2')]],
      ),
    ]);
    const arm = await write('arm', 'robot', [ARM]);
    robot = run(['robot', '--json', '--fleet', url('site'), '--creds', arm, HERE]);
    await robot.waitFor(/on the fleet/);
  });
  after(async () => {
    delete process.env['NODE_EXTRA_CA_CERTS'];
    await Promise.all(running.map((child) => child.end()));
    await Promise.all(servers.map((server) => server.kill()));
    await Promise.all(Object.values(taps).map((tap) => tap.close()));
  });

  const leaseKey = (place: string): string => {
    const file = path.join(folder, `lease-${place}.pem`);
    writeFileSync(file, authority.leaseKeys[place]!.present);
    return file;
  };
  const serve = async (tap: string, admin: string, service: string, more: string[]) => {
    await until(
      'set up',
      async () => (await farhand(['fleet', 'setup', '--server', url(tap), '--creds', admin])).code === 0,
      () => tap,
      60_000,
    );
    await run(['fleet', 'serve', '--server', url(tap), '--creds', service, ...more]).waitFor(
      /serving leases/,
    );
  };

  it('lets an operator at the fleet drive a robot at a site', async () => {
    const ann = await write('ann', 'operator', [ARM]);
    const [desk, telemetry] = await freeUdpPorts(2);
    const settings = [`console.deskPort=${desk}`, `console.telemetryPort=${telemetry}`, 'trace.dir=', HERE];
    // By way of the second server: the request crosses the route and the leaf connection.
    const operator = run(['fleet', 'operate', ARM, '--server', url('second'), '--creds', ann, ...settings]);
    await operator.waitFor(/drives hall-2\/arm over WebRTC/);
    await nextTransition(robot, 0, 'engaged', 40_000, () => operator.stdout() + operator.stderr());
    const shown = await farhand(['fleet', 'show', ARM, '--server', url('client'), '--creds', ann]);
    assert.match(shown.stdout, /lease: ann/);
  });

  it('has nothing readable on any link', () => {
    for (const [name, tap] of Object.entries(taps)) {
      const text = tap.bytes().toString('latin1');
      assert.ok(text.length > 2000, `${name}: only ${text.length} bytes`);
      // A server introduces itself before the handshake.
      const readable = READABLE.exec(text.replaceAll(/INFO \{[^\r]*\r\n/g, ''));
      assert.equal(readable, null, `${name}: ${readable?.[0]}`);
    }
  });
});
