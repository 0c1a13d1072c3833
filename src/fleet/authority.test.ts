import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { createAuthority, issue, leaseKeysIn, openAuthority, rotateLeaseKey } from './authority.ts';
import { readCredentials } from './connection.ts';
import { GrantKeys, signGrant } from './leases/grant.ts';
import { publicKeyOf, signer } from './leases/lease-keys.ts';
import { FLEET_ROLES } from './roles.ts';

const NOW_S = 1.8e9;

describe('a fleet’s keys', () => {
  const make = async () => {
    const authority = await createAuthority(path.join(temporaryFolder(), 'fleet'));
    const keysOf = async (name: string, robots: string[]) => {
      const file = path.join(authority.folder, `${name}.creds`);
      writeFileSync(file, await issue(authority, { name, role: 'robot', robots, seconds: 60 }, NOW_S));
      return leaseKeysIn(readCredentials(file).uc.nats.tags);
    };
    return { authority, keysOf };
  };
  const present = (pem: string): string => publicKeyOf(pem);

  it('name the lease service of a robot’s site, or of the fleet', async () => {
    const { authority, keysOf } = await make();
    const { present: own, next } = authority.leaseKeys['']!;
    assert.deepEqual(await keysOf('arm', ['arm']), [present(own), present(next)]);
    await issue(authority, { name: 'hall-2', role: 'site', robots: ['hall-2/*'], seconds: 60 }, NOW_S);
    const site = authority.leaseKeys['hall-2']!;
    assert.deepEqual(await keysOf('far', ['hall-2/arm']), [present(site.present), present(site.next)]);
    assert.deepEqual(await keysOf('near', ['hall-1/arm']), [present(own), present(next)]);
  });

  it('let robots accept the next lease key without new credentials', async () => {
    const { authority, keysOf } = await make();
    const keys = new GrantKeys(await keysOf('arm', ['arm']));
    const grant = { robot: 'arm', user: 'ann', key: 'k', token: 1, nonce: 'n', termMs: 1000 };
    const opened = () => keys.opened(signGrant(grant, signer(authority.leaseKeys['']!.present)), 'arm');
    assert.notEqual(opened(), null);
    rotateLeaseKey(authority, '');
    assert.notEqual(opened(), null);
    rotateLeaseKey(authority, '');
    assert.equal(opened(), null, 'two changes later');
    assert.throws(() => rotateLeaseKey(authority, 'hall-9'), /no site "hall-9"/);
  });

  it('are read back as written, and an older kind names the command that converts it', async () => {
    const { authority } = await make();
    assert.deepEqual(openAuthority(authority.folder), authority);
    const file = path.join(authority.folder, 'authority.json');
    const {
      storeSeed,
      usersSeed: _,
      ...rest
    } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    writeFileSync(file, JSON.stringify({ ...rest, accountSeed: storeSeed }));
    assert.throws(() => openAuthority(authority.folder), /any of its users can delete all its data/);
  });

  it('give nobody outside the store a subject of the server, and nobody a permission to reply', async () => {
    const { authority } = await make();
    for (const role of FLEET_ROLES) {
      const file = path.join(authority.folder, 'x.creds');
      writeFileSync(file, await issue(authority, { name: 'x', role, robots: ['*'], seconds: 60 }, NOW_S));
      const { uc, token } = readCredentials(file);
      assert.doesNotMatch(String(Buffer.from(token.split('.')[1]!, 'base64url')), /"resp"/, role);
      if (role === 'admin' || role === 'service') continue;
      const published = uc.nats.pub?.allow ?? [];
      assert.ok(published.length > 0 && published.every((subject) => subject.startsWith('farhand.')), role);
    }
  });
});
