import { createSocket } from 'node:dgram';
import { accessSync, constants, statSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { expectHttps, listen } from '../console/listener.ts';
import { unwritable } from '../files/write-whole.ts';
import { type ArmRig, armRigs } from '../rig/arms.ts';
import type { Rig } from '../rig/rig.ts';
import type { SocketSpec } from '../wire/reactor.ts';
import { resolveSpec } from '../wire/transports/resolve-host.ts';
import { checkHost, socketError } from '../wire/transports/socket-error.ts';
import { socketType } from '../wire/transports/socket-type.ts';
import { checkSettings, type Starting } from './check-settings.ts';
import { inputSockets } from './open-operator.ts';

/**
 * Throws the errors these processes would throw when started: settings they reject, folders that cannot be written
 * to, ports in use. Starts and creates nothing. `except`: settings whose ports the caller itself holds.
 */
export async function preflight(
  rig: Rig,
  starting: readonly Starting[],
  except: readonly string[] = [],
): Promise<void> {
  await checkSettings(rig, starting);
  if (starting.includes('operator')) checkFolders(rig);
  if (starting.includes('console')) expectHttps(rig);
  if (starting.includes('console') && !except.includes('console.port')) await checkPage(rig);
  const sockets = (await Promise.all(starting.map((role) => socketsOf(rig, role)))).flat();
  for (const spec of sockets)
    if (spec.port !== 0 && !except.includes(spec.portKey ?? `link.${spec.name}Port`))
      await expectFree(await resolveSpec(spec));
}

async function checkPage(rig: Rig): Promise<void> {
  const server = createServer();
  await listen(server, rig);
  await new Promise((resolve) => server.close(resolve));
}

function checkFolders(rig: Rig): void {
  if (rig.trace.dir !== '') expectFolder(rig.trace.dir, 'trace.dir');
  if (rig.record.start === 'engage') expectFolder(rig.record.dir, 'record.dir');
}

/** The folder must be writable, or it must be possible to create it. */
function expectFolder(dir: string, setting: string): void {
  let there = path.resolve(dir);
  try {
    while (statSync(there, { throwIfNoEntry: false }) === undefined && path.dirname(there) !== there)
      there = path.dirname(there);
    if (!statSync(there).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    accessSync(there, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw unwritable(dir, cause, `${setting}=FOLDER chooses another.`);
  }
}

async function socketsOf(rig: Rig, role: Starting): Promise<SocketSpec[]> {
  const { console: page } = rig;
  if (role === 'console') return [];
  const arms = armRigs(rig);
  if (role === 'operator')
    return [
      { name: 'desk', host: '127.0.0.1', port: page.deskPort, portKey: 'console.deskPort' },
      { name: 'telemetry', host: '127.0.0.1', port: page.telemetryPort, portKey: 'console.telemetryPort' },
      ...(await Promise.all(arms.map((arm) => inputSockets(arm.rig)))).flat(),
    ];
  return arms.flatMap(robotSockets);
}

function robotSockets({ side, rig: { link } }: ArmRig): SocketSpec[] {
  if (link.transport === 'webrtc') return [];
  const tcp = link.transport !== 'udp';
  // Camera ports are not checked: cameras never keep a robot from starting.
  const isOneConnection = link.transport === 'websocket' || link.transport === 'datachannel';
  const names = ['command', 'state', 'sync'] as const;
  return (isOneConnection ? names.slice(0, 1) : names).map((name) => ({
    ...{ name, host: link.listenHost, port: link[`${name}Port`] },
    ...(tcp ? { tcp: true as const } : {}),
    ...(side === 'left' ? { portKey: `arms.left.link.${name}Port` } : {}),
  }));
}

function expectFree(spec: SocketSpec): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => reject(socketError(spec, error.code ?? error.message));
    if (spec.tcp) {
      const server = createServer();
      server.once('error', fail);
      server.listen({ port: spec.port, host: spec.host }, () => server.close(() => resolve()));
      return;
    }
    checkHost(spec);
    const socket = createSocket(socketType(spec.host));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      socket.close();
      fail(error);
    });
    socket.bind({ port: spec.port, address: spec.host, exclusive: true }, () =>
      socket.close(() => resolve()),
    );
  });
}
