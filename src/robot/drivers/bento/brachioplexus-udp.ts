import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { TeleopError } from '../../../core/errors.ts';
import type { BrachioplexusWire } from './brachioplexus-link.ts';

export interface BrachioplexusAddress {
  host: string;
  port: number;
  listenHost: string;
  feedbackPort: number;
}

/** The controller's socket. */
export function brachioplexusUdp(address: BrachioplexusAddress): BrachioplexusWire {
  const { host, port, listenHost, feedbackPort } = address;
  const socket: Socket = createSocket('udp4');
  let peer = '';
  return {
    async open(receive) {
      try {
        peer = (await lookup(host, { family: 4 })).address;
      } catch (cause) {
        const hint = 'Give a name this machine can resolve, or an address (robot.options.host).';
        const message = `the arm's host "${host}" has no IPv4 address`;
        throw new TeleopError('name-unresolved', message, { hint, cause });
      }
      await new Promise<void>((resolve, reject) => {
        socket.once('error', (error: NodeJS.ErrnoException) => reject(bindError(address, error)));
        socket.bind(feedbackPort, listenHost, resolve);
      });
      socket.removeAllListeners('error');
      socket.on('error', () => {});
      socket.on('message', (bytes, from) => receive(bytes, from.address === peer));
    },
    send: (bytes, length) => socket.send(bytes, 0, length, port, peer, noTrouble),
    // Lets the last datagram leave first.
    close: () => void setImmediate(() => socket.close()),
  };
}

/** Send errors are ignored: a missing arm shows as missing feedback. */
const noTrouble = (): void => {};

function bindError(
  { listenHost, feedbackPort }: BrachioplexusAddress,
  error: NodeJS.ErrnoException,
): TeleopError {
  const taken = error.code === 'EADDRINUSE';
  const what = taken ? 'the port is in use' : error.message;
  const message = `cannot open UDP ${listenHost}:${feedbackPort} for the arm's feedback: ${what}`;
  const hint = taken
    ? 'Is brachIOplexus or another robot process running? The port is robot.options.feedbackPort.'
    : 'Check robot.options.listenHost.';
  return new TeleopError(taken ? 'port-in-use' : 'socket-failed', message, { hint, cause: error });
}
