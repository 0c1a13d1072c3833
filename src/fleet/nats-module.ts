import { TeleopError } from '../core/errors.ts';

const HINT =
  'Install the fleet’s libraries: `npm install @nats-io/transport-node @nats-io/jetstream @nats-io/kv @nats-io/obj @nats-io/jwt @nats-io/nkeys`.';

async function load<T>(importing: () => Promise<T>): Promise<T> {
  try {
    return await importing();
  } catch (cause) {
    throw new TeleopError('native-unavailable', 'a library of the fleet is not installed', {
      hint: HINT,
      cause,
    });
  }
}

/** Libraries of the broker, loaded by those who use a fleet only. */
export const loadNats = () => load(() => import('@nats-io/transport-node'));
export const loadKv = () => load(() => import('@nats-io/kv'));
export const loadJetStream = () => load(() => import('@nats-io/jetstream'));
export const loadJwt = () => load(() => import('@nats-io/jwt'));
