import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FleetConnection } from '../connection.ts';
import { LeaseClient } from '../leases/lease-client.ts';
import type { OutgoingRequest } from '../request-client.ts';
import { PageLeases } from './page-leases.ts';

/** A lease service for one robot, as its clients see it. */
class Service {
  token = 100;
  holder: string | null = null;

  readonly request = async ({ subject, head }: OutgoingRequest) => {
    const verb = subject
      .split('.')
      .find((word) => ['take', 'renew', 'release', 'away', 'look'].includes(word));
    const answer = this.#answer(verb, head as { token?: number });
    return { head: Buffer.from(JSON.stringify(answer)), bytes: new Uint8Array() };
  };

  #answer(verb: string | undefined, { token }: { token?: number }): object {
    const grant = { body: '', sig: '' };
    if (verb === 'look') return { ok: true, user: this.holder, token: this.token };
    if (verb === 'take') {
      if (this.holder !== null) return { ok: false, why: 'held', user: this.holder };
      this.holder = 'ann';
      return { ok: true, token: ++this.token, grant };
    }
    if (verb === 'away') {
      this.holder = null;
      return { ok: true, was: 'ann', token: ++this.token };
    }
    if (token !== this.token || this.holder === null) return { ok: false, why: 'not-holder' };
    if (verb === 'release') this.holder = null;
    return { ok: true, token, grant };
  }
}

describe('a page whose lease was taken away', () => {
  const open = async () => {
    const service = new Service();
    const client = new LeaseClient({ user: 'ann', request: service.request } as unknown as FleetConnection);
    const over: string[] = [];
    const leases = new PageLeases(client, (page, robot, why) => over.push(`${page} ${robot} ${why}`));
    await leases.take(1, 'arm');
    await client.takeAway('arm');
    leases.announced('arm', service.token);
    return { service, leases, over };
  };
  const isOpen = () => true;

  it('does not take it back by its own retries, even before it is told', async () => {
    const { service, leases, over } = await open();
    assert.deepEqual(over, [], 'not told yet');
    await assert.rejects(leases.takeUnlessLost(1, 'arm', isOpen), { code: 'lease-held' });
    await new Promise(setImmediate);
    assert.deepEqual(over, ['1 arm its lease was taken away']);
    await assert.rejects(leases.takeUnlessLost(1, 'arm', isOpen), { code: 'lease-held' });
    assert.equal(service.holder, null);
  });

  it('takes it back when its user asks, and then keeps it over retries', async () => {
    const { service, leases } = await open();
    const { held } = await leases.take(1, 'arm');
    assert.equal(service.holder, 'ann');
    assert.equal((await leases.takeUnlessLost(1, 'arm', isOpen)).held, held);
    await leases.close();
    assert.equal(service.holder, null);
  });

  it('does not keep another page from taking it', async () => {
    const { service, leases } = await open();
    await leases.takeUnlessLost(2, 'arm', isOpen);
    assert.equal(leases.pageOf('arm'), 2);
    await leases.close();
    assert.equal(service.holder, null);
  });
});
