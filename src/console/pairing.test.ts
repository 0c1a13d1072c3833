import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CODE_MS, Pairing } from './pairing.ts';

const other = (code: string, n = 1): string => String((Number(code) + n) % 1e6).padStart(6, '0');

describe('pairing code of the console', () => {
  it('admits one device, in the role it was issued for', () => {
    const pairing = new Pairing(() => 0);
    const { code } = pairing.issue('viewer');
    assert.match(code, /^\d{6}$/);
    assert.equal(pairing.redeem(other(code), 'a'), 'wrong-code');
    assert.deepEqual(pairing.redeem(code, 'a'), { role: 'viewer' });
    assert.equal(pairing.redeem(code, 'a'), 'no-code');
  });

  it('expires, and is void once a newer one is issued', () => {
    let nowMs = 0;
    const pairing = new Pairing(() => nowMs);
    const first = pairing.issue('operator');
    nowMs = CODE_MS;
    assert.equal(pairing.current, null);
    assert.equal(pairing.redeem(first.code, 'a'), 'no-code');
    const second = pairing.issue('operator');
    let third = pairing.issue('operator');
    while (third.code === second.code) third = pairing.issue('operator');
    assert.equal(pairing.redeem(second.code, 'a'), 'wrong-code');
    assert.deepEqual(pairing.redeem(third.code, 'a'), { role: 'operator' });
  });

  it('is void after five wrong guesses from any addresses', () => {
    const pairing = new Pairing(() => 0);
    const { code } = pairing.issue('operator');
    for (let i = 1; i <= 5; i++) assert.equal(pairing.redeem(other(code, i), `host ${i}`), 'wrong-code');
    assert.equal(pairing.redeem(code, 'host 9'), 'no-code');
  });

  it('limits the failed attempts of one address and of all addresses together', () => {
    let nowMs = 0;
    const pairing = new Pairing(() => nowMs);
    for (let i = 0; i < 6; i++) pairing.redeem('000000', 'guesser');
    const { code } = pairing.issue('operator');
    assert.equal(pairing.redeem(code, 'guesser'), 'rate-limited');
    for (let i = 0; i < 24; i++) pairing.redeem('x', `host ${i}`);
    assert.equal(pairing.redeem(code, 'anyone'), 'rate-limited');
    nowMs = 60e3;
    assert.notEqual(pairing.redeem(pairing.issue('operator').code, 'guesser'), 'rate-limited');
  });
});
