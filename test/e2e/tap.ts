import { connect, createServer, type Socket } from 'node:net';

/** A relay between two ends that keeps the bytes of both directions. */
export interface Tap {
  port: number;
  bytes(): Buffer;
  close(): Promise<void>;
}

const MOST_BYTES = 4 << 20;

export async function startTap(target: number): Promise<Tap> {
  const seen: Buffer[] = [];
  let size = 0;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
      from.on('data', (data: Buffer) => {
        if (size < MOST_BYTES) seen.push(data);
        size += data.length;
        to.write(data);
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    bytes: () => Buffer.concat(seen),
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
