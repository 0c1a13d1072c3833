import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { turnCredentials } from './turn.ts';

describe('credentials for TURN', () => {
  it('are the expiry and the user’s name, signed', () => {
    // printf '1700000000:ann' | openssl dgst -sha1 -hmac secret -binary | base64
    assert.deepEqual(turnCredentials('secret', 'ann', 1_700_000_000.9), {
      username: '1700000000:ann',
      password: 'vQnWXBtsqkQms4Ddse1rYmcjgqM=',
    });
  });
});
