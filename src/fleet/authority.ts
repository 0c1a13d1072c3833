import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { KeyPair } from '@nats-io/jwt';
import { z } from 'zod';
import { TeleopError } from '../core/errors.ts';
import { parseJson } from '../core/parse-json.ts';
import { PRIVATE, writeWhole } from '../files/write-whole.ts';
import { storeClaims, systemClaims, usersClaims } from './accounts.ts';
import { makeKey, publicKeyOf } from './leases/lease-keys.ts';
import { loadJwt } from './nats-module.ts';
import { isStoreRole, permissionsOf } from './permissions.ts';
import { FLEET_ROLES, type FleetRole } from './roles.ts';
import { covers, ROBOT_PATTERN, USER_NAME } from './subjects.ts';

const FILE = 'authority.json';
const MAX_FILE_BYTES = 64 << 20;

export interface FleetUser {
  publicKey: string;
  role: FleetRole;
  robots: string[];
  expires: number;
}

/** Private keys that sign leases, as PEM: the one in use, and the one that will replace it. */
export interface LeaseKeys {
  present: string;
  next: string;
}

/** The keys of a fleet, in a folder that only its owner can read. Whoever has them can issue credentials. */
export interface Authority {
  folder: string;
  operatorSeed: string;
  /** The account with JetStream and the services; `accounts.ts`. */
  storeSeed: string;
  /** The account of robots and people. */
  usersSeed: string;
  systemSeed: string;
  /** Signed once: a running server accepts no other. */
  operatorToken: string;
  systemToken: string;
  /** Of the fleet itself (''), and of each site by its name. */
  leaseKeys: Record<string, LeaseKeys>;
  /** Accounts of the sites' own stores. Whoever runs a site cannot reach the fleet's. */
  siteSeeds: Record<string, string>;
  /** Revoked users, by public key, or `*` for all: everything issued up to that Unix second is void. */
  revoked: Record<string, number>;
  revokedInStore: Record<string, number>;
  /** Users with credentials, by name. */
  users: Record<string, FleetUser>;
}

const authoritySchema: z.ZodType<Omit<Authority, 'folder'>, unknown> = z.object({
  ...{ operatorSeed: z.string(), storeSeed: z.string(), usersSeed: z.string(), systemSeed: z.string() },
  ...{ operatorToken: z.string(), systemToken: z.string() },
  leaseKeys: z.record(z.string(), z.object({ present: z.string(), next: z.string() })),
  siteSeeds: z.record(z.string(), z.string()),
  revoked: z.record(z.string(), z.number()),
  revokedInStore: z.record(z.string(), z.number()),
  users: z.record(
    z.string(),
    z.object({
      ...{ publicKey: z.string(), role: z.enum(FLEET_ROLES), robots: z.array(z.string()) },
      expires: z.number(),
    }),
  ),
});

export const newLeaseKeys = (): LeaseKeys => ({ present: makeKey().privatePem, next: makeKey().privatePem });

export async function createAuthority(folder: string): Promise<Authority> {
  if (existsSync(path.join(folder, FILE)))
    throw new TeleopError('bad-option', `${folder} already holds a fleet’s keys`, {
      hint: 'Choose another folder. Replacing the keys would lock every user out.',
    });
  const { createOperator, createAccount, encodeAccount, encodeOperator } = await loadJwt();
  const operator = createOperator();
  const [store, users, system] = [createAccount(), createAccount(), createAccount()];
  const authority: Authority = {
    folder,
    operatorSeed: textOf(operator.getSeed()),
    storeSeed: textOf(store.getSeed()),
    usersSeed: textOf(users.getSeed()),
    systemSeed: textOf(system.getSeed()),
    operatorToken: await encodeOperator('farhand', operator, { system_account: system.getPublicKey() }),
    systemToken: await encodeAccount('system', system, systemClaims(), { signer: operator }),
    leaseKeys: { '': newLeaseKeys() },
    ...{ siteSeeds: {}, revoked: {}, revokedInStore: {}, users: {} },
  };
  saveAuthority(authority);
  return authority;
}

export function openAuthority(folder: string): Authority {
  const kept = readAuthority(folder, authoritySchema);
  if (typeof kept !== 'string') return { ...kept, folder };
  if (typeof readAuthority(folder, z.object({ accountSeed: z.string() })) !== 'string')
    throw new TeleopError(
      'fleet-outdated',
      `the fleet in ${folder} has a single account: any of its users can delete all its data`,
      { hint: `Separate its store from its users: \`farhand fleet migrate --dir ${folder}\`.` },
    );
  throw new TeleopError(
    'file-unreadable',
    `${path.join(folder, FILE)} does not hold a fleet’s keys (${kept})`,
    {
      hint: 'Restore it from a backup: without its keys no user can be added or revoked.',
    },
  );
}

/** The folder's keys as that schema; a reason if they have another form. */
export function readAuthority<T extends object>(folder: string, schema: z.ZodType<T, unknown>): T | string {
  const file = path.join(folder, FILE);
  if (!existsSync(file))
    throw new TeleopError('file-missing', `${folder} holds no fleet keys`, {
      hint: 'Create them with `farhand fleet init DIR`, or name the folder that holds them: --dir DIR.',
    });
  return parseJson(readFileSync(file), schema, MAX_FILE_BYTES);
}

export function saveAuthority({ folder, ...kept }: Authority): void {
  writeWhole(path.join(folder, FILE), `${JSON.stringify(kept, null, 2)}\n`, PRIVATE);
}

export interface NewUser {
  name: string;
  role: FleetRole;
  /** Names of robots, `GROUP/*`, or `*`. */
  robots: readonly string[];
  /** How long the credentials are valid. */
  seconds: number;
  /** `admin`, `service`: of this site's store instead of the fleet's. */
  site?: string | undefined;
}

/** Issues credentials to a new user, as the text of a NATS credentials file. `nowS`: Unix time. */
export async function issue(authority: Authority, user: NewUser, nowS: number): Promise<string> {
  const credentials = await makeCredentials(authority, user, nowS);
  saveAuthority(authority);
  return credentials;
}

/** Adds the user to the authority without saving it. */
export async function makeCredentials(authority: Authority, user: NewUser, nowS: number): Promise<string> {
  checkNames(user);
  const { createUser, encodeUser, fmtCreds, fromSeed } = await loadJwt();
  const keys = createUser();
  const expires = Math.floor(nowS + user.seconds);
  const { pub, sub } = permissionsOf(user.role, user.name, user.robots);
  const claims = {
    ...{ pub: { allow: pub, deny: [] }, sub: { allow: sub, deny: [] } },
    ...limitsOf(user.role),
    ...(user.role === 'robot' ? { tags: leaseTags(authority, user.robots) } : {}),
  };
  if (user.role === 'site') await addSite(authority, user.name);
  const account = fromSeed(bytes(seedOf(authority, user)));
  const jwt = await encodeUser(user.name, keys, account, claims, { exp: expires });
  const { role, robots } = user;
  authority.users[user.name] = { publicKey: keys.getPublicKey(), role, robots: [...robots], expires };
  return textOf(fmtCreds(jwt, keys));
}

async function addSite(authority: Authority, name: string): Promise<void> {
  authority.leaseKeys[name] ??= newLeaseKeys();
  authority.siteSeeds[name] ??= textOf((await loadJwt()).createAccount().getSeed());
}

function seedOf({ usersSeed, storeSeed, siteSeeds }: Authority, { role, site }: NewUser): string {
  if (!isStoreRole(role)) return usersSeed;
  const seed = site === undefined ? storeSeed : siteSeeds[site];
  if (seed !== undefined) return seed;
  throw new TeleopError('bad-option', `this fleet has no site "${site}"`, {
    hint: `Create it first: \`farhand fleet user ${site} --role site --robots NAMES\`.`,
  });
}

function checkNames(user: NewUser): void {
  const bad = USER_NAME.test(user.name) ? user.robots.find((name) => !ROBOT_PATTERN.test(name)) : user.name;
  if (bad !== undefined)
    throw new TeleopError('bad-option', `"${bad}" is not a valid name in a fleet`, {
      hint: 'Use lower-case letters, digits, - and _. A robot may have a group: GROUP/NAME.',
    });
}

/** A robot’s chunk of a recording is the longest message; a robot subscribes to four subjects. */
const CHUNK_MESSAGE_BYTES = 600 * 1024;
const SHORT_MESSAGE_BYTES = 64 * 1024;

function limitsOf(role: FleetRole): { subs?: number; payload?: number } {
  if (role === 'robot') return { subs: 64, payload: CHUNK_MESSAGE_BYTES };
  if (role === 'operator') return { payload: CHUNK_MESSAGE_BYTES };
  return role === 'viewer' ? { payload: SHORT_MESSAGE_BYTES } : {};
}

const LEASE_TAG = 'lease:';

/** The keys whose signatures the robots accept: those of their site, or else of the fleet. */
function leaseTags(authority: Authority, robots: readonly string[]): string[] {
  const { present, next } = authority.leaseKeys[placeOf(authority, robots)]!;
  return [present, next].map((key) => `${LEASE_TAG}${publicKeyOf(key)}`);
}

/** The site that keeps these robots' leases; '': the fleet. */
export function placeOf({ users, leaseKeys }: Authority, robots: readonly string[]): string {
  const sites = Object.entries(users).filter(([name, { role }]) => role === 'site' && name in leaseKeys);
  const [site] = sites.find(([, each]) => robots.every((robot) => covers(each.robots, robot))) ?? [''];
  return site;
}

/** The public lease keys in a robot's credentials. */
export const leaseKeysIn = (tags: readonly string[] = []): string[] =>
  tags.filter((tag) => tag.startsWith(LEASE_TAG)).map((tag) => tag.slice(LEASE_TAG.length));

/**
 * Replaces the key that signs leases with the next one, which robots' credentials already name, and makes
 * another next one. Credentials issued before the previous change no longer name it. `place`: a site; '': the
 * fleet.
 */
export function rotateLeaseKey(authority: Authority, place: string): void {
  const keys = authority.leaseKeys[place];
  if (keys === undefined)
    throw new TeleopError('bad-option', `this fleet has no site "${place}"`, {
      hint: `Its sites: ${Object.keys(authority.siteSeeds).join(', ') || 'none'}.`,
    });
  authority.leaseKeys[place] = { present: keys.next, next: makeKey().privatePem };
  saveAuthority(authority);
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
  const revoked = isStoreRole(user.role) ? authority.revokedInStore : authority.revoked;
  revoked[user.publicKey] = Math.ceil(nowS);
  delete authority.users[name];
  saveAuthority(authority);
}

/**
 * What a server needs of the fleet's keys: the operator's token, and those of its accounts by public key.
 * `site`: the server of a site has a store of its own.
 */
export async function serverAccounts(
  authority: Authority,
  site?: string,
): Promise<{
  operator: string;
  system: string;
  /** The account of robots and people. */
  users: string;
  accounts: Record<string, string>;
}> {
  const { encodeAccount, fromSeed } = await loadJwt();
  const { operatorSeed, usersSeed, systemSeed } = authority;
  const storeSeed = (site && authority.siteSeeds[site]) || authority.storeSeed;
  const [operator, store, users, system] = [operatorSeed, storeSeed, usersSeed, systemSeed].map((seed) =>
    fromSeed(bytes(seed)),
  ) as [KeyPair, KeyPair, KeyPair, KeyPair];
  const signed = { signer: operator };
  const inStore = storeClaims(authority.revokedInStore);
  const inUsers = usersClaims(store.getPublicKey(), authority.revoked);
  return {
    operator: authority.operatorToken,
    system: system.getPublicKey(),
    users: users.getPublicKey(),
    accounts: {
      [store.getPublicKey()]: await encodeAccount('store', store, inStore, signed),
      [users.getPublicKey()]: await encodeAccount('users', users, inUsers, signed),
      [system.getPublicKey()]: authority.systemToken,
    },
  };
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (data: Uint8Array): string => new TextDecoder().decode(data);
