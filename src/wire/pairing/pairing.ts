import type { Socket } from 'node:net';
import { hostname } from 'node:os';
import path from 'node:path';
import { ConnectionTable } from '../../core/connection-table.ts';
import { TeleopError } from '../../core/errors.ts';
import {
  asKeyName,
  createKey,
  type KeyRole,
  keyId,
  keyPath,
  readKeyFile,
  writeKeyFile,
} from '../secure/key-file.ts';
import {
  OperatorExchange,
  type OperatorStep,
  PairingOffer,
  refusalLine,
} from '../secure/pairing-protocol.ts';
import { connect, converse, goodbye, listen } from './pairing-socket.ts';

export const PAIRING_PORT = 4749;
const EXCHANGE_MS = 10_000;
// An honest exchange takes milliseconds and one connection.
const LIMITS = { local: 0, known: 0, strangers: 16, perAddress: 16 };

/** A stored key. Does not include the key itself, so all of it may be shown. */
export interface StoredKey {
  /** The machine it connects to, by its name on this side. */
  name: string;
  id: string;
  path: string;
  /** Id of the key that previously had this name. */
  replaced: string | null;
}

export interface Paired extends StoredKey {
  /** The other machine's name for itself. */
  peer: string;
}

export type OfferEvent =
  | { kind: 'waiting'; host: string; port: number; code: string; timeoutS: number }
  | { kind: 'wrong-code'; from: string; guessesLeft: number }
  | { kind: 'new-code'; code: string };

export interface OfferOptions {
  host: string;
  port: number;
  timeoutS: number;
  folder: string;
  /** Name of the key; the operator machine's name if null. */
  name: string | null;
  /** What the other machine may do. */
  role?: KeyRole;
  onEvent(event: OfferEvent): void;
  /** Longest time a connection may take. */
  exchangeMs?: number;
}

/** The robot machine's side: shows a code and waits for the operator who types it. */
export async function offerPairing(options: OfferOptions): Promise<Paired> {
  const { host, timeoutS } = options;
  const offer = new PairingOffer(asKeyName(hostname()));
  const connections = new Set<Socket>();
  const table = new ConnectionTable<Socket>(LIMITS, () => false);
  const { server, port } = await listen(host, options.port);
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Paired>((resolve, reject) => {
      timer = setTimeout(() => offer.paired || reject(nobodyCame(timeoutS)), timeoutS * 1000);
      server.on('error', reject);
      server.on('connection', (socket) => {
        connections.add(socket);
        socket.once('close', () => {
          connections.delete(socket);
          table.delete(socket);
        });
        table.add(socket, socket.remoteAddress ?? '')?.destroy();
        answer(socket, offer, options).then((paired) => paired && resolve(paired), reject);
      });
      options.onEvent({ kind: 'waiting', host, port, code: offer.code, timeoutS });
    });
  } finally {
    clearTimeout(timer);
    server.close();
    for (const socket of connections) socket.destroy();
  }
}

/** One connection to its end: the pairing, or null. Rejects only when pairing cannot continue at all. */
function answer(socket: Socket, offer: PairingOffer, options: OfferOptions): Promise<Paired | null> {
  const exchange = offer.open();
  const { code } = offer;
  return converse(socket, options.exchangeMs ?? EXCHANGE_MS, (line) => {
    const step = exchange.receive(line);
    if (step.kind === 'reply') {
      socket.write(step.line);
      return undefined;
    }
    if (step.kind === 'paired') return accept(socket, step, options);
    socket.end(step.line);
    return step.reason === 'wrong-code' ? wrongGuess(socket, offer, code, options) : null;
  });
}

async function accept(
  socket: Socket,
  step: { peer: string; key: Uint8Array; line: string },
  options: OfferOptions,
): Promise<Paired> {
  try {
    const stored = storeKey(options.folder, options.name ?? step.peer, step.key, options.role);
    await goodbye(socket, step.line);
    return { peer: step.peer, ...stored };
  } catch (error) {
    await goodbye(socket, refusalLine('not-stored'));
    throw error;
  }
}

function wrongGuess(socket: Socket, offer: PairingOffer, tried: string, { onEvent }: OfferOptions): null {
  if (offer.exhausted)
    throw new TeleopError('pairing-failed', 'too many wrong codes; someone may be guessing', {
      hint: 'Pair over a network you trust, or copy a key by hand: `farhand pair --key-file FILE`.',
    });
  const from = socket.remoteAddress ?? 'unknown';
  const renewed = offer.code !== tried;
  onEvent({ kind: 'wrong-code', from, guessesLeft: renewed ? 0 : offer.guessesLeft });
  if (renewed) onEvent({ kind: 'new-code', code: offer.code });
  return null;
}

export interface RequestOptions {
  host: string;
  port: number;
  /** As `parseCode` returns it. */
  code: string;
  folder: string;
  /** Name of the key; the robot machine's name if null. */
  name: string | null;
  exchangeMs?: number;
}

/** The operator machine's side: proves that it knows the code and stores the key both now have. */
export async function requestPairing(options: RequestOptions): Promise<Paired> {
  const where = `${options.host}:${options.port}`;
  const socket = await connect(options.host, options.port);
  const exchange = new OperatorExchange(asKeyName(hostname()), options.code);
  socket.write(exchange.hello());
  const end = await converse(socket, options.exchangeMs ?? EXCHANGE_MS, (line) => {
    const step = exchange.receive(line);
    if (step.kind !== 'reply') return step;
    socket.write(step.line);
    return undefined;
  });
  socket.destroy();
  if (end?.kind !== 'paired') throw refusedError(where, end?.reason ?? null);
  return { peer: end.peer, ...storeKey(options.folder, options.name ?? end.peer, end.key) };
}

/** Resolves if something listens there. */
export async function checkReachable(host: string, port: number): Promise<void> {
  (await connect(host, port)).destroy();
}

/** Creates a key to be copied by hand. */
export function createKeyFile(file: string, name: string | null): StoredKey {
  const key = createKey();
  const entry = { name: name ?? asKeyName(path.basename(file, '.key')), key, createdAt: now() };
  writeKeyFile(file, entry);
  return { name: entry.name, id: keyId(key), path: file, replaced: null };
}

/** Imports a copied key into the key folder. Idempotent. */
export function importKeyFile(
  file: string,
  folder: string,
  name: string | null,
  role: KeyRole = 'operator',
): StoredKey {
  const entry = readKeyFile(file, { allowExposed: true });
  const stored = { ...entry, name: name ?? entry.name, role };
  const target = keyPath(folder, stored.name);
  const id = keyId(entry.key);
  if (existingId(target) !== id) writeKeyFile(target, stored);
  return { name: stored.name, id, path: target, replaced: null };
}

/** Changes what a paired machine may do; a running robot stops and exits. */
export function setKeyRole(file: string, role: KeyRole): void {
  writeKeyFile(file, { ...readKeyFile(file), role }, { replace: true });
}

function storeKey(folder: string, name: string, key: Uint8Array, role: KeyRole = 'operator'): StoredKey {
  const target = keyPath(folder, name);
  const replaced = existingId(target);
  writeKeyFile(target, { name, key, createdAt: now(), role }, { replace: true });
  return { name, id: keyId(key), path: target, replaced };
}

function existingId(file: string): string | null {
  try {
    return keyId(readKeyFile(file, { allowExposed: true }).key);
  } catch {
    return null;
  }
}

const now = (): string => new Date().toISOString();

function nobodyCame(timeoutS: number): TeleopError {
  return new TeleopError('pairing-failed', `no operator entered the code within ${timeoutS} s`, {
    hint: 'Run it again, then `farhand pair HOST` on the operator machine; use --timeout S to wait longer.',
  });
}

type Reason = Extract<OperatorStep, { kind: 'refused' }>['reason'];

function refusedError(where: string, reason: Reason | null): TeleopError {
  const failed = (message: string, hint: string) => new TeleopError('pairing-failed', message, { hint });
  switch (reason) {
    case 'wrong-code':
      return failed(
        'the code does not match the one on the robot machine',
        'Enter the code it shows now (it changes after three wrong ones). If yours was right, someone may be intercepting: use `farhand pair --key-file FILE`.',
      );
    case 'code-changed':
      return failed('the code is no longer valid', 'Use the one the robot machine shows now.');
    case 'other-version':
      return failed(
        `${where} uses another version of the pairing protocol`,
        'Install the same farhand on both machines (`farhand --version`).',
      );
    case 'not-stored':
      return failed('the robot machine could not store the key', 'See its terminal for the reason.');
    case 'impostor':
      return failed(
        `${where} did not prove that it knows the code`,
        'Someone may be intercepting: use a network you trust, or `farhand pair --key-file FILE`.',
      );
    case 'bad-message':
      return failed(
        `${where} is not a farhand pairing port`,
        'Give the HOST[:PORT] that `farhand pair` shows on the robot machine.',
      );
    default:
      return failed(
        `${where} hung up or stopped answering`,
        'Check that `farhand pair` still runs on the robot machine, then try again.',
      );
  }
}
