import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatIp, hostPort, parseIp, splitHostPort } from './ip-address.ts';

/** The form in which browsers write an address: an independent implementation of RFC 5952. */
const canonical = (address: string): string => new URL(`http://[${address}]/`).hostname.slice(1, -1);

describe('address', () => {
  it('is read from every text that Node accepts, and written in the canonical form', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        assert.equal(formatIp(parseIp(address)!), canonical(address));
      }),
    );
    fc.assert(fc.property(fc.ipV4(), (address) => assert.equal(formatIp(parseIp(address)!), address)));
  });

  it('has the same bytes when it is written and read', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) =>
        assert.deepEqual(parseIp(formatIp(bytes)), bytes),
      ),
    );
  });

  it('is not read from a text that Node rejects', () => {
    const piece = fc.constantFrom(':', '::', '.', '%', 'f', '0', '12345', '255', '256', 'g', '-1', ' ');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        const isAddress = isIP(text) !== 0 && !text.includes('%');
        assert.equal(parseIp(text) !== null, isAddress, text);
      }),
    );
  });
});

describe('host and port', () => {
  it('are joined and split again', () => {
    for (const host of ['10.0.0.5', 'robot-3.local', '::1', 'fe80::1%eth0'])
      assert.deepEqual(splitHostPort(hostPort(host, 4750)), { host, port: 4750 });
    assert.deepEqual(splitHostPort('4750'), { host: null, port: 4750 });
    for (const text of ['', 'host', 'host:', '::1:4750:x', '[::1]', 'a:65536', '[name]:5'])
      assert.equal(splitHostPort(text), null, text);
  });
});
