import { createServer, connect as netConnect, type Server, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { TeleopError } from '../../core/errors.ts';
import { LineSplitter } from '../secure/pairing-protocol.ts';

const CONNECT_MS = 5_000;
const GOODBYE_MS = 2_000;

/** Addresses at which other machines may reach this one. */
export function lanAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.filter(({ family, internal }) => family === 'IPv4' && !internal).map(({ address }) => address);
}

export async function listen(host: string, port: number): Promise<{ server: Server; port: number }> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(listenError(host, port, cause)));
    server.listen(port, host, resolve);
  });
  return { server, port: (server.address() as { port: number }).port };
}

export function connect(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = netConnect({ host, port });
    const timer = setTimeout(() => socket.destroy(errno('ETIMEDOUT')), CONNECT_MS);
    socket.once('error', (cause) => {
      clearTimeout(timer);
      reject(connectError(host, port, cause));
    });
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.removeAllListeners('error');
      resolve(socket);
    });
  });
}

/**
 * Passes each line to `onLine` until it returns a result; returns that, or null if the connection ended
 * first. Closes the connection when a line is too long or after `limitMs`, whatever the peer does.
 */
export function converse<T>(
  socket: Socket,
  limitMs: number,
  onLine: (line: string) => T | Promise<T> | undefined,
): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const splitter = new LineSplitter();
    let done = false;
    const timer = setTimeout(() => socket.destroy(), limitMs);
    socket.setNoDelay(true);
    // 'close' follows every error.
    socket.on('error', () => {});
    socket.once('close', () => {
      clearTimeout(timer);
      resolve(null);
    });
    socket.on('data', (chunk) => {
      const lines = done ? [] : splitter.push(chunk);
      if (lines === null) socket.destroy();
      for (const line of lines ?? []) {
        try {
          const result = onLine(line);
          if (result === undefined) continue;
          resolve(result);
        } catch (error) {
          reject(error);
        }
        done = true;
        return;
      }
    });
  });
}

/** Sends a last line and waits briefly until the peer has hung up. */
export function goodbye(socket: Socket, line: string): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) return resolve();
    const timer = setTimeout(resolve, GOODBYE_MS);
    socket.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
    socket.end(line);
  });
}

function listenError(host: string, port: number, cause: NodeJS.ErrnoException): TeleopError {
  const where = `TCP ${host}:${port} for pairing`;
  if (cause.code === 'EADDRINUSE')
    return new TeleopError('port-in-use', `${where} is in use`, {
      hint: `Stop the program that holds it (ss -tlpn "sport = :${port}" names it) or choose another: --port ${port + 10}`,
      cause,
    });
  if (cause.code === 'EACCES')
    return new TeleopError('socket-failed', `${where} needs a privilege that this user lacks`, {
      hint: `Choose a port above 1023: --port ${port + 10_000}`,
      cause,
    });
  return new TeleopError('socket-failed', `${where} cannot be opened: ${cause.code}`, {
    hint: `Give an address of this machine: --listen ${[...lanAddresses(), '127.0.0.1'].join(' or ')}.`,
    cause,
  });
}

function connectError(host: string, port: number, cause: NodeJS.ErrnoException): TeleopError {
  const code = cause.code ?? (cause as { errors?: NodeJS.ErrnoException[] }).errors?.[0]?.code;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new TeleopError('name-unresolved', `the robot machine's name "${host}" has no address`, {
      hint: 'Give a name this machine can resolve, or the address itself: farhand pair 192.168.1.20',
      cause,
    });
  if (code === 'ECONNREFUSED')
    return new TeleopError('socket-failed', `nothing is waiting to pair at ${host}:${port}`, {
      hint: 'Start `farhand pair --listen ADDRESS` on the robot machine, then run this again.',
      cause,
    });
  const problem = code === 'ETIMEDOUT' ? 'does not answer' : `cannot be reached: ${code}`;
  return new TeleopError('socket-failed', `${host}:${port} ${problem}`, {
    hint: `Check the address, the network and that no firewall blocks TCP ${port}.`,
    cause,
  });
}

const errno = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code });
