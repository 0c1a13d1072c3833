import { TeleopError } from '../core/errors.ts';

export type Zmq = typeof import('zeromq');

/** The optional package zeromq. `otherwise`: what to do without it, for the hint. */
export async function loadZmq(otherwise = ''): Promise<Zmq> {
  try {
    return await import('zeromq');
  } catch (cause) {
    const hint = `Install it with \`npm install zeromq\`${otherwise && `, or ${otherwise}`}.`;
    throw new TeleopError('native-unavailable', `ZeroMQ is not available: ${(cause as Error).message}`, {
      hint,
      cause,
    });
  }
}
