import { readFileSync } from 'node:fs';
import type { NatsConnection } from '@nats-io/transport-node';
import { TeleopError } from '../../core/errors.ts';
import { inboxOf, subjects } from '../../fleet/subjects.ts';
import { loadJwt, loadNats } from './nats-module.ts';

export interface FleetConnection {
  nats: NatsConnection;
  /** The name in the credentials. */
  user: string;
  /** Names of the robots that the credentials are about; `*`: all. */
  robots: string[];
  /** Whether the credentials let it hold leases. */
  mayOperate: boolean;
  /** Whether the broker is reached just now. */
  isConnected(): boolean;
  close(): Promise<void>;
}

/** Connects with a file of credentials, and again whenever the connection breaks. */
export async function connectFleet(
  url: string,
  credentialsFile: string,
  /** Waits for a broker that is not there yet. */
  patient = false,
): Promise<FleetConnection> {
  const [{ connect, credsAuthenticator }, { parseCreds }] = [await loadNats(), await loadJwt()];
  let credentials: Uint8Array;
  try {
    credentials = readFileSync(credentialsFile);
  } catch (cause) {
    throw new TeleopError('file-unreadable', `credentials ${credentialsFile} cannot be read`, {
      hint: 'Make some with `farhand fleet user NAME`, or give their file: --creds FILE.',
      cause,
    });
  }
  const { uc } = await parseCreds(credentials);
  const servers = url.split(',');
  try {
    const nats = await connect({
      servers,
      authenticator: credsAuthenticator(credentials),
      name: uc.name,
      inboxPrefix: inboxOf(uc.name),
      maxReconnectAttempts: -1,
      waitOnFirstConnect: patient,
      reconnectTimeWait: 250,
      reconnectJitter: 250,
      pingInterval: 5000,
      maxPingOut: 2,
      timeout: 5000,
    });
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
      {
        hint: 'Check the address, and that the credentials belong to this fleet and have not expired.',
        cause,
      },
    );
  }
}

/** Names of the robots that a file of credentials is about; `*`: all. */
export async function robotsIn(credentialsFile: string): Promise<string[]> {
  const { uc } = await (await loadJwt()).parseCreds(readFileSync(credentialsFile));
  return robotsOf(uc.nats.sub?.allow);
}

const PRESENCE = subjects.presence('');

function robotsOf(allowed: readonly string[] = []): string[] {
  if (allowed.includes('>')) return ['*'];
  const heard = [...allowed].filter((subject) => subject.startsWith(PRESENCE));
  const answers = allowed.flatMap((subject) => /^farhand\.signal\.([^.]+)\.\*$/.exec(subject)?.[1] ?? []);
  return [...heard.map((subject) => subject.slice(PRESENCE.length)), ...answers];
}

const SIGNAL = subjects.signal('', '').slice(0, -1);

const mayOperate = (allowed: readonly string[] = []): boolean =>
  allowed.some((subject) => subject === '>' || subject.startsWith(SIGNAL));

/** Why a connection that is made again whenever it breaks was given up. */
export const closedText = (cause: unknown): string =>
  cause instanceof Error ? `the broker refused: ${cause.message}` : 'the connection to the broker was closed';
