import { TeleopError } from '../../core/errors.ts';

export type Zmq = typeof import('zeromq');

/** ZeroMQ where it is installed. `hint`: what to do without. */
export async function loadZmq(hint: string): Promise<Zmq> {
  try {
    return await import('zeromq');
  } catch (cause) {
    throw new TeleopError('native-unavailable', `ZeroMQ is not available: ${(cause as Error).message}`, {
      hint,
      cause,
    });
  }
}
