import { TeleopError } from '../../core/errors.ts';

export type Zmq = typeof import('zeromq');

/** ZeroMQ where it is installed. */
export async function loadZmq(): Promise<Zmq> {
  try {
    return await import('zeromq');
  } catch (cause) {
    throw new TeleopError('native-unavailable', `ZeroMQ is not available: ${(cause as Error).message}`, {
      hint: 'Install it with `npm install zeromq`, or send the pictures as UDP slices: cameras.wire=udp',
      cause,
    });
  }
}
