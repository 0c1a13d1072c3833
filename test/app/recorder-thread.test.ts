import assert from 'node:assert/strict';
import { it } from 'node:test';
import { endText } from '../../src/app/recorder-thread.ts';

it('too few file descriptors end a recording with a remedy, anything else as a bug', () => {
  const full = Object.assign(new Error('EMFILE: too many open files, open'), { code: 'EMFILE' });
  assert.match(endText(full), /too many open files\. Raise the limit with `ulimit -n 4096`/);
  assert.match(endText(new Error('EMFILE: too many open files')), /ulimit/);
  assert.match(
    endText(new TypeError('x is undefined')),
    /^Recording stopped by a bug in Farhand: x is undefined\.$/,
  );
});
