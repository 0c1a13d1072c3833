import type { NatsConnection } from '@nats-io/transport-node';
import { TeleopError } from '../core/errors.ts';
import { readBounded } from '../files/read-bounded.ts';
import { refusePlainBroker } from './broker-tls.ts';
import { loadJwt, loadNats } from './nats-module.ts';
import { inboxOf, subjects } from './subjects.ts';

export interface FleetConnection {
  nats: NatsConnection;
  /** The name in the credentials. */
  user: string;
  /** Names of the robots that the credentials cover; `*`: all. */
  robots: string[];
  /** Whether the credentials allow holding leases. */
  mayOperate: boolean;
  /** Whether the broker is connected now. */
  isConnected(): boolean;
  close(): Promise<void>;
}

export interface ConnectOptions {
  /** Waits for a broker that is not running yet. */
  patient?: boolean;
  /** As in the fleet's settings. */
  plainBeyondLoopback?: boolean;
}

const MAX_CREDENTIALS_BYTES = 1 << 20;

/** Connects with a credentials file, and reconnects whenever the connection breaks. */
export async function connectFleet(
  url: string,
  credentialsFile: string,
  options: ConnectOptions = {},
): Promise<FleetConnection> {
  const { tls } = refusePlainBroker(url, options.plainBeyondLoopback === true);
  const { bytes, uc } = await readCredentials(credentialsFile);
  try {
    const nats = await dial(url, bytes, uc.name, tls, options);
    let connected = true;
    void (async () => {
      for await (const { type } of nats.status())
        if (type === 'disconnect') connected = false;
        else if (type === 'reconnect') connected = true;
    })();
    return {
      nats,
      user: uc.name,
      robots: robotsOf(uc.nats.sub?.allow),
      mayOperate: mayOperate(uc.nats.pub?.allow),
      isConnected: () => connected && !nats.isClosed(),
      close: () => nats.close(),
    };
  } catch (cause) {
    throw new TeleopError(
      'fleet-unreachable',
      `no connection to the fleet at ${url}: ${(cause as Error).message}`,
      { hint: tls ? `${TLS_HINT} ${HINT}` : HINT, cause },
    );
  }
}

/** Throws if the file cannot be read or holds no credentials; contacts nobody. */
export async function readCredentials(file: string) {
  const { parseCreds } = await loadJwt();
  try {
    const { bytes } = readBounded(file, MAX_CREDENTIALS_BYTES);
    return { bytes, uc: (await parseCreds(bytes)).uc };
  } catch (cause) {
    const { message } = cause as Error;
    throw new TeleopError('file-unreadable', `credentials ${file} cannot be read: ${message}`, {
      hint: 'Create them with `farhand fleet user NAME`, or name their file: --creds FILE.',
      cause,
    });
  }
}

async function dial(
  url: string,
  credentials: Uint8Array,
  name: string,
  tls: boolean,
  { patient = false, plainBeyondLoopback = false }: ConnectOptions,
): Promise<NatsConnection> {
  const { connect, credsAuthenticator } = await loadNats();
  const options = {
    servers: url.split(','),
    authenticator: credsAuthenticator(credentials),
    name,
    // With `tls` an unencrypted server is rejected, whatever it announces.
    ...(tls ? { tls: {} } : {}),
    // A plain server on this machine may announce servers on other machines.
    ignoreClusterUpdates: !tls && !plainBeyondLoopback,
    inboxPrefix: inboxOf(name),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    pingInterval: 5000,
    maxPingOut: 2,
    timeout: 5000,
  };
  try {
    return await connect(options);
  } catch (cause) {
    if (!patient || (tls && isAboutTls(cause as Error))) throw cause;
    return connect({ ...options, waitOnFirstConnect: true });
  }
}

/** TLS errors are permanent: waiting does not help. */
const isAboutTls = ({ message }: Error): boolean => /'tls'|certificate/i.test(message);

const HINT = 'Check the address, and that the credentials belong to this fleet and have not expired.';
const TLS_HINT =
  'The server needs a certificate for the name in its address that this machine trusts (NODE_EXTRA_CA_CERTS=FILE for your own authority).';

/** Names of the robots that a credentials file covers; `*`: all. */
export async function robotsIn(credentialsFile: string): Promise<string[]> {
  const { uc } = await readCredentials(credentialsFile);
  return robotsOf(uc.nats.sub?.allow);
}

const PRESENCE = subjects.presence('');

function robotsOf(allowed: readonly string[] = []): string[] {
  if (allowed.includes('>')) return ['*'];
  const received = [...allowed].filter((subject) => subject.startsWith(PRESENCE));
  const answers = allowed.flatMap((subject) => /^farhand\.signal\.([^.]+)\.\*$/.exec(subject)?.[1] ?? []);
  return [...received.map((subject) => subject.slice(PRESENCE.length)), ...answers];
}

const SIGNAL = subjects.signal('', '').slice(0, -1);

const mayOperate = (allowed: readonly string[] = []): boolean =>
  allowed.some((subject) => subject === '>' || subject.startsWith(SIGNAL));

/** Why a reconnecting connection was given up. */
export const closedText = (cause: unknown): string =>
  cause instanceof Error
    ? `the broker rejected the connection: ${cause.message}`
    : 'the connection to the broker was closed';
