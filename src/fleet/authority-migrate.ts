import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { TeleopError } from '../core/errors.ts';
import {
  type Authority,
  type FleetUser,
  makeCredentials,
  newLeaseKeys,
  readAuthority,
  saveAuthority,
} from './authority.ts';
import { loadJwt } from './nats-module.ts';
import { FLEET_ROLES } from './roles.ts';

/** A fleet as it was before its store was separated from its users: everything in one account. */
const singleAccountSchema = z.object({
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

export interface Migrated {
  authority: Authority;
  /** New credentials, by user: the old ones are void once the servers reload. */
  credentials: Record<string, string>;
}

/**
 * Separates a fleet's store from its users. The account keeps its data and becomes the store; everybody gets
 * credentials of a new account, with the same name, role, robots and expiry. `nowS`: Unix time.
 */
export async function migrateAuthority(folder: string, nowS: number): Promise<Migrated> {
  const old = readAuthority(folder, singleAccountSchema);
  if (typeof old === 'string')
    throw new TeleopError('bad-option', `the fleet in ${folder} does not need to be migrated`, {
      hint: 'Its store is separate from its users already.',
    });
  const { createAccount } = await loadJwt();
  const { accountSeed, operatorSeed, operatorToken, systemSeed, systemToken } = old;
  const authority: Authority = {
    ...{ folder, operatorSeed, operatorToken, systemSeed, systemToken },
    storeSeed: accountSeed,
    usersSeed: new TextDecoder().decode(createAccount().getSeed()),
    leaseKeys: { '': newLeaseKeys() },
    ...{ siteSeeds: {}, revoked: {} },
    // Everything issued so far: those credentials reach the store's own subjects.
    revokedInStore: { ...old.revoked, '*': Math.floor(nowS) },
    users: {},
  };
  // Credentials of the same second would be void too.
  while (Math.floor(Date.now() / 1000) <= nowS) await sleep(50);
  const credentials = await reissued(authority, old.users, nowS);
  saveAuthority(authority);
  return { authority, credentials };
}

/** Sites first: a robot's credentials name the keys of its site. */
async function reissued(
  authority: Authority,
  users: Record<string, FleetUser>,
  nowS: number,
): Promise<Record<string, string>> {
  const credentials: Record<string, string> = {};
  const valid = Object.entries(users).filter(([, { expires }]) => expires > nowS);
  valid.sort(([, a], [, b]) => Number(b.role === 'site') - Number(a.role === 'site'));
  for (const [name, { role, robots, expires }] of valid)
    credentials[name] = await makeCredentials(
      authority,
      { name, role, robots, seconds: expires - nowS },
      nowS,
    );
  return credentials;
}
