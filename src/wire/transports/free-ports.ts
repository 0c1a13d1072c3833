import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/** UDP ports nobody holds at this moment, on loopback. */
export async function freeUdpPorts(count: number): Promise<number[]> {
  const sockets = Array.from({ length: count }, () => createSocket('udp4'));
  const ports = await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<number>((resolve) => socket.bind(0, '127.0.0.1', () => resolve(socket.address().port))),
    ),
  );
  await Promise.all(sockets.map((socket) => new Promise<void>((resolve) => socket.close(resolve))));
  return ports;
}

/** The UDP port `first` on loopback, or another if it is taken; nobody else gets it until it is released. */
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
