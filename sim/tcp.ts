import type { AddressInfo, Server, Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { TeleopError } from '../src/core/errors.ts';

/** Listens and reports the port; tracks its connections so that they can be dropped. */
export class Listener {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', (cause: NodeJS.ErrnoException) =>
        reject(
          new TeleopError('port-in-use', `cannot listen on ${host}:${port}: ${cause.code ?? cause.message}`, {
            hint: 'Choose another port; 0 picks a free one.',
            cause,
          }),
        ),
      );
      this.#server.listen({ host, port }, () => resolve((this.#server.address() as AddressInfo).port));
    });
  }

  /** Drops all connections at once; new ones are accepted. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.#server.close();
    this.cut();
  }
}

/** A port option; 0 picks a free one. */
export function portOption(value: string | boolean | undefined, fallback: number): number {
  const port = value === undefined ? fallback : Number(value);
  if (Number.isInteger(port) && port >= 0 && port < 65536) return port;
  throw new TeleopError('bad-option', `"${value}" is not a port`, { hint: 'Give a number from 0 to 65535.' });
}

/** Commands, as lines on standard input or over the parent process's IPC channel. */
export function onCommands(act: (word: string) => void, stop: AbortSignal): void {
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => act(line.trim()));
  process.on('message', (message) => {
    if (typeof message === 'string') act(message);
  });
  stop.addEventListener('abort', () => {
    lines.close();
    process.stdin.destroy();
  });
}
