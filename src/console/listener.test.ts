import assert from 'node:assert/strict';
import { it } from 'node:test';
import { lanAddress } from './listener.ts';

it('prints an address on which a server on all addresses answers', () => {
  const certified = ['127.0.0.1', '::1', 'fd00::2', '192.168.7.9'];
  assert.equal(lanAddress('0.0.0.0', certified, ['10.0.0.3']), '192.168.7.9');
  assert.equal(lanAddress('::', certified, ['10.0.0.3']), '192.168.7.9');
  assert.equal(lanAddress('::', ['::1', 'fd00::2'], []), 'fd00::2');
  assert.equal(lanAddress('0.0.0.0', ['::1', 'fd00::2'], ['fe80::1', '169.254.3.4', '10.0.0.3']), '10.0.0.3');
  assert.equal(lanAddress('0.0.0.0', ['fd00::2'], []), '127.0.0.1');
});
