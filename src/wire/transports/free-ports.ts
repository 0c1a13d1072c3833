import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/** Below the ephemeral range: an outgoing connection may take a free port there before it is used. */
const LOWEST = 15_000;
const HIGHEST = 32_000;

/** Random ports that are free on loopback at this moment, for both UDP and TCP. */
export async function freeUdpPorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    if (!ports.has(port) && (await isFreeUdp(port)) && (await isFree('127.0.0.1', port))) ports.add(port);
  }
  return [...ports];
}

/** Whether a UDP port on loopback is free at this moment. */
export function isFreeUdp(port: number): Promise<boolean> {
  const socket = createSocket('udp4');
  return new Promise((resolve) => {
    socket.once('error', () => socket.close(() => resolve(false)));
    socket.bind({ address: '127.0.0.1', port, exclusive: true }, () => socket.close(() => resolve(true)));
  });
}

/** The UDP port `first` on loopback, or another if it is taken; reserved until it is released. */
export async function reserveUdpPort(first: number): Promise<{ port: number; release(): Promise<void> }> {
  const socket = createSocket('udp4');
  const bind = (port: number) =>
    new Promise<boolean>((resolve) => {
      socket.once('error', () => resolve(false));
      socket.bind({ address: '127.0.0.1', port, exclusive: true }, () => resolve(true));
    });
  if (await bind(first))
    return { port: socket.address().port, release: () => new Promise((resolve) => socket.close(resolve)) };
  socket.close();
  return reserveUdpPort(0);
}

/** The first free TCP port at or after `first` on `host`; `first` itself when none of the next 20 is. */
export async function freeTcpPort(host: string, first: number): Promise<number> {
  for (let port = first; port < first + 20; port++) if (await isFree(host, port)) return port;
  return first;
}

function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
