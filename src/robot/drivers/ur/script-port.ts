import { connect } from 'node:net';
import { Refused, within } from '../../buses/wait.ts';

const CONNECT_TIMEOUT_MS = 2000;

/**
 * Sends a program to the secondary interface, which starts it in place of the current one. What the
 * controller sends there (its state, ten times a second) is discarded. The returned function closes the
 * connection.
 */
export async function sendScript(host: string, port: number, script: string): Promise<() => void> {
  const socket = connect({ host, port, noDelay: true });
  const connected = new Promise<void>((resolve, reject) => {
    socket.on('connect', resolve);
    socket.on('error', (error: NodeJS.ErrnoException) => reject(new Refused(error.code ?? error.message)));
  });
  socket.resume();
  try {
    await within(connected, CONNECT_TIMEOUT_MS, 'no reply');
  } catch (error) {
    socket.destroy();
    throw new Refused(`script port ${host}:${port}: ${(error as Error).message}`);
  }
  socket.write(script);
  return () => {
    socket.destroy();
  };
}
