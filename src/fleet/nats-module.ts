import { TeleopError } from '../core/errors.ts';

const HINT =
  'Install them: `npm install @nats-io/transport-node @nats-io/jetstream @nats-io/kv @nats-io/obj @nats-io/jwt @nats-io/nkeys`.';

async function load<T>(importing: () => Promise<T>): Promise<T> {
  try {
    return await importing();
  } catch (cause) {
    throw new TeleopError('native-unavailable', 'the fleet’s libraries are not installed', {
      hint: HINT,
      cause,
    });
  }
}

/** The broker's libraries, loaded only where a fleet is used. */
export const loadNats = () => load(() => import('@nats-io/transport-node'));
export const loadKv = () => load(() => import('@nats-io/kv'));
export const loadJetStream = () => load(() => import('@nats-io/jetstream'));
export const loadJwt = () => load(() => import('@nats-io/jwt'));
