import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { packageRoot } from '../../src/files/package-root.ts';
import { LIMITED_BY } from '../../src/messages/robot-state.ts';

it('the protocol’s document lists every limit that a robot reports', () => {
  const text = readFileSync(path.join(packageRoot, 'protocol', 'SPEC.md'), 'utf8');
  const [, values = ''] = /^\| `limited` \| empty, (.+?) \|/m.exec(text) ?? [];
  const listed = values.split(', ').map((value) => value.replaceAll('`', ''));
  // Only the operator's mapping reports `reach`.
  const reported = LIMITED_BY.filter((limit) => limit !== '' && limit !== 'reach');
  assert.deepEqual(listed.toSorted(), [...reported].toSorted());
});
