import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bindSocket, type Libc } from './libc.ts';

/** A libc whose bind fails with these errno names, one per try, then succeeds. */
function failing(...names: string[]): { libc: Libc; tries: () => number } {
  let tries = 0;
  const libc = {
    bind: () => (tries++ < names.length ? -1 : 0),
    errnoName: () => names[tries - 1]!,
  } as unknown as Libc;
  return { libc, tries: () => tries };
}

test('an errno changed by another thread does not hide why a bind failed', () => {
  const { libc } = failing('EADDRINUSE', 'errno 11', 'EADDRINUSE', 'EADDRINUSE');
  assert.equal(bindSocket(libc, 3, new Uint8Array(16)), 'EADDRINUSE');
  assert.equal(bindSocket(failing('errno 11', 'EACCES', 'EACCES').libc, 3, new Uint8Array(16)), 'EACCES');
});

test('a bind that succeeds is not repeated, and one that keeps failing differently ends', () => {
  const good = failing();
  assert.equal(bindSocket(good.libc, 3, new Uint8Array(16)), '');
  assert.equal(good.tries(), 1);
  assert.equal(bindSocket(failing('a', 'b', 'c', 'd', 'e', 'f').libc, 3, new Uint8Array(16)), 'e');
});
