import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { configuredPeer, peerAddress, peerOf, peerPort, samePeerHost } from './reactor.ts';

describe('peer', () => {
  it('packs an address and a port into one exact number', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.nat(65535), (address, port) => {
        const peer = peerOf(address, port);
        assert.ok(Number.isSafeInteger(peer));
        assert.equal(peerAddress(peer), address);
        assert.equal(peerPort(peer), port);
      }),
    );
    assert.equal(peerOf('127.0.0.1', 4750), 0x7f000001 * 65536 + 4750);
  });

  it('differs for every address and port', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV4(), fc.nat(65535), fc.nat(65535), (a, b, p, q) => {
        assert.equal(peerOf(a, p) === peerOf(b, q), a === b && p === q);
        assert.equal(samePeerHost(peerOf(a, p), peerOf(b, q)), a === b);
      }),
    );
  });

  it('numbers IPv6 addresses exactly, each with its port', () => {
    fc.assert(
      fc.property(fc.ipV6(), fc.nat(65535), (address, port) => {
        const peer = peerOf(address, port);
        assert.ok(Number.isSafeInteger(peer));
        assert.equal(peerPort(peer), port);
        assert.equal(peerOf(peerAddress(peer), port), peer);
        assert.ok(samePeerHost(peer, peerOf(address, (port + 1) % 65536)));
        assert.equal(configuredPeer(address, port), peer);
      }),
    );
    assert.equal(peerOf('::ffff:10.0.0.5', 7), peerOf('10.0.0.5', 7));
  });

  it('is 0 for anything but an address', () => {
    for (const text of [
      '',
      'localhost',
      ':::1',
      '1::2::3',
      'fe80::1%none',
      '1.2.3.4%1',
      '1.2.3',
      '1.2.3.4.5',
      '256.0.0.1',
      '1.2.3.-4',
      '1.2.3.x',
    ])
      assert.equal(peerOf(text, 5), 0, text);
  });
});
