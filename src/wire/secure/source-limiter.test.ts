import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { peerOf } from '../reactor.ts';
import { SourceLimiter } from './source-limiter.ts';

describe('source limiter', () => {
  it('blocks a source that fails too often, for a while, and no other', () => {
    const limiter = new SourceLimiter();
    const bad = peerOf('10.0.0.9', 5000);
    const good = peerOf('10.0.0.1', 6000);
    for (let i = 0; i <= 200; i++) {
      assert.equal(limiter.isBlocked(bad, 1e9 + i), false);
      limiter.fail(bad, 1e9 + i);
    }
    assert.equal(limiter.isBlocked(bad, 1e9 + 300), true);
    assert.equal(limiter.isBlocked(good, 1e9 + 300), false);
    assert.equal(limiter.isBlocked(bad, 1e9 + 100e6), false, 'the window ends');
    limiter.fail(bad, 1e9 + 101e6);
    assert.equal(limiter.isBlocked(bad, 1e9 + 102e6), false, 'and counts anew');
  });
});
