import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../../test/temporary-folder.ts';
import { ANNOUNCED, type Grant, GrantKeys, signGrant } from './grant.ts';
import type { LeaseClient } from './lease-client.ts';
import { makeKey, signer } from './lease-keys.ts';
import { RobotLease } from './robot-lease.ts';

const TERM_NS = 30e9;
const service = makeKey();
const sign = signer(service.privatePem);

/** A lease service that never answers. */
const silent = new Proxy({} as LeaseClient, { get: () => () => new Promise(() => {}) });

function robotWith(file: string, keys = [service.publicKey]): RobotLease {
  const options = {
    client: silent,
    robot: 'arm',
    keys: new GrantKeys(keys),
    termNs: TERM_NS,
    nowNs: () => 0,
  };
  return new RobotLease({ ...options, file });
}

const grant = (part: Partial<Grant>): Grant => ({
  ...{ robot: 'arm', user: 'ann', key: 'k', token: 5, nonce: '', termMs: 60_000, ...part },
});

describe('the robot’s side of a lease', () => {
  const folder = temporaryFolder();
  const file = (name: string) => path.join(folder, `${name}.json`);

  it('obeys a grant from when it made the nonce, for its own term, on its own clock', () => {
    const lease = robotWith(file('term'));
    const nonce = lease.nonce(1e9);
    assert.equal(lease.refusal('k', 5, 2e9), 'not-holder');
    assert.equal(typeof lease.present(signGrant(grant({ nonce }), sign), 10e9), 'object');
    assert.equal(lease.refusal('k', 5, 30.9e9), null);
    assert.equal(lease.refusal('k', 5, 31e9), 'lease-expired');
    assert.equal(lease.present(signGrant(grant({ nonce }), sign), 31e9), 'old-nonce', 'kept for later');
    assert.equal(lease.present(signGrant(grant({ nonce: 'other' }), sign), 2e9), 'old-nonce');
  });

  it('rejects every altered or foreign statement', () => {
    const lease = robotWith(file('signed'));
    const nonce = lease.nonce(0);
    const good = signGrant(grant({ nonce }), sign);
    const forged = [
      { ...good, body: good.body.replace('ann', 'eve') },
      { ...good, sig: `${good.sig.startsWith('A') ? 'B' : 'A'}${good.sig.slice(1)}` },
      { ...good, sig: '' },
      signGrant(grant({ nonce }), signer(makeKey().privatePem)),
      signGrant(grant({ nonce, robot: 'leg' }), sign),
      { body: '{}', sig: sign('{}') },
    ];
    for (const each of forged) assert.equal(lease.present(each, 0), 'no-lease', each.body);
    assert.equal(typeof lease.present(good, 0), 'object');
    // A key that will replace the present one counts already.
    const next = makeKey();
    const later = robotWith(file('next'), [service.publicKey, next.publicKey]);
    const signed = signGrant(grant({ nonce: later.nonce(0) }), signer(next.privatePem));
    assert.equal(typeof later.present(signed, 0), 'object');
  });

  it('has the highest token on disk before it obeys, and rejects lower ones after a restart', () => {
    const lease = robotWith(file('floor'));
    lease.present(signGrant(grant({ nonce: lease.nonce(0), token: 7 }), sign), 0);
    assert.deepEqual(JSON.parse(readFileSync(file('floor'), 'utf8')), { high: 7, key: 'k' });
    const again = robotWith(file('floor'));
    const present = (part: Partial<Grant>) =>
      again.present(signGrant(grant({ nonce: again.nonce(0), ...part }), sign), 0);
    assert.equal(present({ token: 6 }), 'old-token');
    assert.equal(present({ token: 7, key: 'other' }), 'not-holder');
    assert.equal(typeof present({ token: 7 }), 'object');
  });

  it('obeys nobody if it cannot write the token', () => {
    const inside = path.join(folder, 'gone', 'x.json');
    mkdirSync(path.dirname(inside));
    const lease = robotWith(inside);
    rmSync(path.dirname(inside), { recursive: true });
    // A file where the folder was.
    mkdirSync(inside, { recursive: true });
    const nonce = lease.nonce(0);
    assert.equal(lease.present(signGrant(grant({ nonce }), sign), 0), 'not-saved');
    assert.notEqual(lease.refusal('k', 5, 0), null);
  });

  it('ends a lease at once when a higher token is announced, and begins none', () => {
    const lease = robotWith(file('change'));
    lease.present(signGrant(grant({ nonce: lease.nonce(0) }), sign), 0);
    const change = (part: Partial<Grant>) =>
      lease.received(signGrant(grant({ nonce: ANNOUNCED, ...part }), sign));
    assert.equal(change({ token: 5 }), false, 'its own renewal');
    assert.equal(lease.refusal('k', 5, 0), null);
    assert.equal(
      lease.received(signGrant(grant({ nonce: ANNOUNCED, token: 9 }), signer(makeKey().privatePem))),
      false,
    );
    assert.equal(change({ token: 6, user: 'bob', key: 'b' }), true);
    assert.equal(lease.refusal('k', 5, 0), 'old-token');
    assert.equal(lease.refusal('b', 6, 0), 'no-lease');
  });
});
