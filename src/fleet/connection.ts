import type { NatsConnection } from '@nats-io/transport-node';
import { TeleopError } from '../core/errors.ts';
import { readBounded } from '../files/read-bounded.ts';
import { leaseKeysIn } from './authority.ts';
import { refusePlainBroker } from './broker-tls.ts';
import { type Credentials, MAX_CREDENTIALS_BYTES, parseCredentials } from './credentials.ts';
import { loadNats } from './nats-module.ts';
import { inboxOf } from './permissions.ts';
import { type Answer, type OutgoingRequest, RequestClient } from './request-client.ts';
import { refuseUnsafeServer } from './server-version.ts';
import { robotAt } from './subjects.ts';

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
  /** Sends a request and waits for its answer. */
  request(request: OutgoingRequest): Promise<Answer>;
  /** What the credentials prove: their token, the account that issued it, and a signature with their key. */
  identity: { token: string; account: string; sign(text: string): string };
  /** A robot's: public keys of its lease service. */
  leaseKeys: string[];
  close(): Promise<void>;
}

export interface ConnectOptions {
  /** Waits for a broker that is not running yet. */
  patient?: boolean;
  /** As in the fleet's settings. */
  plainBeyondLoopback?: boolean;
}

/** Connects with a credentials file, and reconnects whenever the connection breaks. */
export async function connectFleet(
  url: string,
  credentialsFile: string,
  options: ConnectOptions = {},
): Promise<FleetConnection> {
  const { tls } = refusePlainBroker(url, options.plainBeyondLoopback === true);
  const credentials = readCredentials(credentialsFile);
  try {
    return connected(await dial(url, credentials, tls, options), credentials);
  } catch (cause) {
    if (cause instanceof TeleopError) throw cause;
    throw new TeleopError(
      'fleet-unreachable',
      `no connection to the fleet at ${url}: ${inWords(cause as Error)}`,
      { hint: tls ? `${TLS_HINT} ${HINT}` : HINT, cause },
    );
  }
}

function connected(nats: NatsConnection, { uc, sign, token }: Credentials): FleetConnection {
  let isUp = true;
  const isConnected = () => isUp && !nats.isClosed();
  const requests = new RequestClient(nats, uc.name, isConnected);
  void (async () => {
    for await (const status of nats.status()) {
      if (status.type === 'disconnect') isUp = false;
      else if (status.type === 'reconnect') isUp = true;
      else if (status.type === 'error' && 'subject' in status.error)
        requests.refused(String(status.error.subject));
    }
  })();
  return {
    nats,
    user: uc.name,
    robots: robotsOf(uc.nats.sub?.allow),
    mayOperate: mayOperate(uc.nats.pub?.allow),
    isConnected,
    request: (request) => requests.send(request),
    identity: { token, account: uc.nats.issuer_account ?? uc.iss, sign },
    leaseKeys: leaseKeysIn(uc.nats.tags),
    close: () => nats.close(),
  };
}

/** Throws if the file cannot be read or holds no credentials; contacts nobody. */
export function readCredentials(file: string): Credentials {
  try {
    return parseCredentials(new TextDecoder().decode(readBounded(file, MAX_CREDENTIALS_BYTES).bytes));
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
  { uc, sign, token }: Credentials,
  tls: boolean,
  { patient = false, plainBeyondLoopback = false }: ConnectOptions,
): Promise<NatsConnection> {
  const { connect } = await loadNats();
  const options = {
    servers: url.split(','),
    authenticator: (nonce?: string) => ({ jwt: token, nkey: '', sig: sign(nonce ?? '') }),
    name: uc.name,
    // With `tls` an unencrypted server is rejected, whatever it announces.
    ...(tls ? { tls: {} } : {}),
    // A plain server on this machine may announce servers on other machines.
    ignoreClusterUpdates: !tls && !plainBeyondLoopback,
    inboxPrefix: inboxOf(uc.name),
    maxReconnectAttempts: -1,
    ...reconnectPauses(),
    pingInterval: 5000,
    maxPingOut: 2,
    timeout: 5000,
  };
  const nats = await connect(options).catch((cause: unknown) => {
    if (!patient || (tls && isAboutTls(cause as Error))) throw cause;
    return connect({ ...options, waitOnFirstConnect: true });
  });
  try {
    refuseUnsafeServer(nats.info?.version ?? '');
  } catch (error) {
    await nats.close();
    throw error;
  }
  return nats;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/** A connection that lasted this long starts over with the first pause. */
const SETTLED_MS = 30_000;

/**
 * Longer pauses after each attempt, spread evenly: when a server dies, thousands reconnect elsewhere, and
 * every handshake costs the servers about a millisecond.
 */
function reconnectPauses(): { reconnectDelayHandler: () => number } {
  let attempts = 0;
  let lastMs = Number.NEGATIVE_INFINITY;
  return {
    reconnectDelayHandler() {
      const nowMs = performance.now();
      attempts = nowMs - lastMs > SETTLED_MS ? 0 : attempts + 1;
      lastMs = nowMs;
      return Math.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempts >> 1));
    },
  };
}

/** TLS errors are permanent: waiting does not help. */
const isAboutTls = ({ message }: Error): boolean => /'tls'|certificate/i.test(message);

const HINT = 'Check the address, and that the credentials belong to this fleet and have not expired.';
const TLS_HINT =
  'The server needs a certificate for the name in its address that this machine trusts (NODE_EXTRA_CA_CERTS=FILE for your own authority).';

/** Names of the robots that a credentials file covers; `*`: all. */
export async function robotsIn(credentialsFile: string): Promise<string[]> {
  const { uc } = readCredentials(credentialsFile);
  return robotsOf(uc.nats.sub?.allow);
}

/** A robot is recognised by its signals, people by the presence that they receive. */
const COVERED = /^farhand\.(?:presence\.([^.]+)\.([^.]+)|signal\.([^.]+)\.([^.]+)\.\*)$/;

const robotsOf = (allowed: readonly string[] = []): string[] =>
  allowed.flatMap((subject) => {
    const [, group, name, ownGroup, ownName] = COVERED.exec(subject) ?? [];
    const [g, n] = [group ?? ownGroup, name ?? ownName];
    return g === undefined || n === undefined ? [] : [robotAt(g, n)];
  });

const mayOperate = (allowed: readonly string[] = []): boolean =>
  allowed.some((subject) => subject.startsWith('farhand.signal.'));

/** The broker's own words do not say what to do. */
function inWords({ message }: Error): string {
  if (/authentication expired/i.test(message)) return 'these credentials have expired';
  if (/authorization violation|revoked/i.test(message))
    return 'these credentials were rejected: they expired, were revoked, or belong to another fleet';
  return message;
}

/** Why a reconnecting connection was given up. */
export const closedText = (cause: unknown): string =>
  cause instanceof Error
    ? `the broker rejected the connection: ${inWords(cause)}`
    : 'the connection to the broker was closed';
