import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatIp } from './ip-address.ts';
import { hostOfSix, hostOfText, isSixHost, textOfHost } from './ip-hosts.ts';

const stranger = (n: number): Uint8Array => {
  const bytes = new Uint8Array(16);
  bytes.set([0xfd, 0, n >>> 24, n >>> 16, n >>> 8, n]);
  return bytes;
};

describe('IPv6 hosts', () => {
  it('keep the number of a configured address while any number of others send', () => {
    const robot = hostOfText('fd00::5', { pin: true })!;
    assert.ok(isSixHost(robot));
    for (let n = 0; n < 20_000; n++) hostOfSix(stranger(n), 0, 0);
    assert.equal(hostOfText('fd00::5'), robot);
    assert.equal(textOfHost(robot), 'fd00::5');
  });

  it('never get the number of another address, also when they are forgotten', () => {
    const owners = new Map<number, string>();
    for (let n = 0; n < 20_000; n++) {
      const bytes = stranger(n % 7_000);
      const host = hostOfSix(bytes, 0, 0);
      const text = formatIp(bytes);
      assert.equal(owners.get(host) ?? text, text);
      owners.set(host, text);
      assert.equal(textOfHost(host), text);
    }
    const known = [...owners].filter(([host]) => textOfHost(host) !== '');
    assert.ok(known.length <= 2048, 'bounded');
    for (const [host, text] of known) assert.equal(textOfHost(host), text);
  });

  it('differ by the interface of a link-local address', () => {
    const one = hostOfText('fe80::1%2')!;
    assert.notEqual(one, hostOfText('fe80::1%3'));
    assert.equal(textOfHost(one), 'fe80::1%2');
    assert.equal(hostOfText('fe80::1%lan'), null);
  });
});
