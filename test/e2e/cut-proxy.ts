import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface CutProxy {
  port: number;
  close(): Promise<void>;
}

/** Forwards to a loopback port; after `bytes` from the client it calls `cut` and stops forwarding. */
export async function startCutProxy(port: number, bytes: number, cut: () => void): Promise<CutProxy> {
  const sockets: Socket[] = [];
  let left = bytes;
  const server = createServer((client) => {
    const to = connect(port, '127.0.0.1');
    sockets.push(client, to);
    for (const socket of [client, to]) socket.on('error', () => {});
    to.on('data', (data) => client.write(data));
    to.on('close', () => client.destroy());
    client.on('close', () => to.destroy());
    client.on('data', (data) => {
      if (left <= 0) return;
      left -= data.length;
      to.write(data);
      if (left <= 0) cut();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
