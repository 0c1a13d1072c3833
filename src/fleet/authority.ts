import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { TeleopError } from '../core/errors.ts';
import { parseJson } from '../core/parse-json.ts';
import { PRIVATE, writeWhole } from '../files/write-whole.ts';
import { loadJwt } from './nats-module.ts';
import { permissionsOf } from './permissions.ts';
import { FLEET_ROLES, type FleetRole } from './roles.ts';
import { ROBOT_NAME } from './subjects.ts';

const FILE = 'authority.json';
const UNLIMITED = {
  subs: -1,
  data: -1,
  payload: -1,
  imports: -1,
  exports: -1,
  conn: -1,
  leaf: -1,
  wildcards: true,
} as const;

/** The keys of a fleet, in a folder that only its owner can read. Whoever has them can issue credentials. */
export interface Authority {
  folder: string;
  operatorSeed: string;
  accountSeed: string;
  systemSeed: string;
  /** Signed once: a running server accepts no other. */
  operatorToken: string;
  systemToken: string;
  /** Revoked users, by public key: everything issued up to that Unix second is void. */
  revoked: Record<string, number>;
  /** Users with credentials, by name. */
  users: Record<string, { publicKey: string; role: FleetRole; robots: string[]; expires: number }>;
}

const MAX_FILE_BYTES = 64 << 20;
const authoritySchema: z.ZodType<Omit<Authority, 'folder'>, unknown> = z.object({
  ...{ operatorSeed: z.string(), accountSeed: z.string(), systemSeed: z.string() },
  ...{ operatorToken: z.string(), systemToken: z.string(), revoked: z.record(z.string(), z.number()) },
  users: z.record(
    z.string(),
    z.object({
      ...{ publicKey: z.string(), role: z.enum(FLEET_ROLES), robots: z.array(z.string()) },
      expires: z.number(),
    }),
  ),
});

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (data: Uint8Array): string => new TextDecoder().decode(data);

export async function createAuthority(folder: string): Promise<Authority> {
  if (existsSync(path.join(folder, FILE)))
    throw new TeleopError('bad-option', `${folder} already holds a fleet’s keys`, {
      hint: 'Choose another folder. Replacing the keys would lock every user out.',
    });
  const { createOperator, createAccount, encodeAccount, encodeOperator } = await loadJwt();
  const [operator, account, system] = [createOperator(), createAccount(), createAccount()];
  const authority: Authority = {
    folder,
    operatorSeed: textOf(operator.getSeed()),
    accountSeed: textOf(account.getSeed()),
    systemSeed: textOf(system.getSeed()),
    operatorToken: await encodeOperator('farhand', operator, { system_account: system.getPublicKey() }),
    systemToken: await encodeAccount('system', system, { limits: UNLIMITED }, { signer: operator }),
    revoked: {},
    users: {},
  };
  saveAuthority(authority);
  return authority;
}

export function openAuthority(folder: string): Authority {
  const file = path.join(folder, FILE);
  if (!existsSync(file))
    throw new TeleopError('file-missing', `${folder} holds no fleet keys`, {
      hint: 'Create them with `farhand fleet init DIR`, or name the folder that holds them: --dir DIR.',
    });
  const kept = parseJson(readFileSync(file), authoritySchema, MAX_FILE_BYTES);
  if (typeof kept === 'string')
    throw new TeleopError('file-unreadable', `${file} does not hold a fleet’s keys (${kept})`, {
      hint: 'Restore it from a backup: without its keys no user can be added or revoked.',
    });
  return { ...kept, folder };
}

export function saveAuthority({ folder, ...kept }: Authority): void {
  writeWhole(path.join(folder, FILE), `${JSON.stringify(kept, null, 2)}\n`, PRIVATE);
}

export interface NewUser {
  name: string;
  role: FleetRole;
  /** Names of robots, or `*`. */
  robots: readonly string[];
  /** How long the credentials are valid. */
  seconds: number;
}

/** Issues credentials to a new user, as the text of a NATS credentials file. `nowS`: Unix time. */
export async function issue(authority: Authority, user: NewUser, nowS: number): Promise<string> {
  for (const name of [user.name, ...user.robots])
    if (name !== '*' && !ROBOT_NAME.test(name))
      throw new TeleopError('bad-option', `"${name}" is not a valid name in a fleet`, {
        hint: 'Use lower-case letters, digits, - and _.',
      });
  const { createUser, encodeUser, fmtCreds, fromSeed } = await loadJwt();
  const keys = createUser();
  const expires = Math.floor(nowS + user.seconds);
  const { pub, sub } = permissionsOf(user.role, user.name, user.robots);
  const permissions = {
    pub: { allow: pub, deny: [] },
    sub: { allow: sub, deny: [] },
    resp: { max: 1, ttl: 10e9 },
  };
  const account = fromSeed(bytes(authority.accountSeed));
  const jwt = await encodeUser(user.name, keys, account, permissions, { exp: expires });
  authority.users[user.name] = {
    publicKey: keys.getPublicKey(),
    role: user.role,
    robots: [...user.robots],
    expires,
  };
  saveAuthority(authority);
  return textOf(fmtCreds(jwt, keys));
}

/**
 * Revokes everything issued to this name so far. Takes effect when servers load the next `serverAccounts`.
 */
export function revoke(authority: Authority, name: string, nowS: number): void {
  const user = authority.users[name];
  if (user === undefined)
    throw new TeleopError('bad-option', `this fleet has no user "${name}"`, {
      hint: `Its users: ${Object.keys(authority.users).join(', ') || 'none'}.`,
    });
  authority.revoked[user.publicKey] = Math.ceil(nowS);
  delete authority.users[name];
  saveAuthority(authority);
}

/**
 * What a server needs of the fleet's keys: the operator's token, and those of both accounts by public key.
 */
export async function serverAccounts(
  authority: Authority,
): Promise<{ operator: string; system: string; accounts: Record<string, string> }> {
  const { encodeAccount, fromSeed } = await loadJwt();
  const [operator, account, system] = [
    authority.operatorSeed,
    authority.accountSeed,
    authority.systemSeed,
  ].map((seed) => fromSeed(bytes(seed)));
  const store = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const claims = { limits: { ...UNLIMITED, ...store }, revocations: authority.revoked };
  return {
    operator: authority.operatorToken,
    system: system!.getPublicKey(),
    accounts: {
      [account!.getPublicKey()]: await encodeAccount('fleet', account!, claims, { signer: operator! }),
      [system!.getPublicKey()]: authority.systemToken,
    },
  };
}
