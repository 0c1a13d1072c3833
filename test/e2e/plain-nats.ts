import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface PlainServer {
  url: string;
  close(): Promise<void>;
}

/** Starts nats-server with a configuration of the test's own. */
export async function startPlainServer(file: string, port: number): Promise<PlainServer> {
  const child = spawn('nats-server', ['-c', file], { stdio: 'ignore' });
  const exited = once(child, 'close');
  const isOpen = () =>
    new Promise<boolean>((resolve) => {
      const socket = connectTcp(port, '127.0.0.1');
      socket.once('connect', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
  for (let left = 300; left > 0 && !(await isOpen()); left--) await sleep(50);
  return {
    url: `nats://127.0.0.1:${port}`,
    async close() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
