import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { shownPath } from './shown-path.ts';

describe('shownPath', () => {
  const shown = (file: string) => shownPath(file, '/home/ada/farhand', '/home/ada');

  it('is relative to the working folder where it can be', () => {
    assert.equal(shown('/home/ada/farhand/recordings'), 'recordings');
    assert.equal(shown('recordings'), 'recordings');
    assert.equal(shown('/home/ada/farhand'), '.');
  });

  it('is relative to the home folder otherwise, and absolute outside it', () => {
    assert.equal(shown('/home/ada/data'), '~/data');
    assert.equal(shown('../farhand-data'), '~/farhand-data');
    assert.equal(shown('/srv/data'), '/srv/data');
  });
});
