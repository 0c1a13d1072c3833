import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { packageRoot } from '../../src/files/package-root.ts';
import { picture } from './picture-poses.ts';

/** Solutions may differ in the last digits between machines; a picture that looks different is off by more. */
const MOST_PX = 2;

/** A person has looked at these pictures. FARHAND_WRITE_PICTURES=1 replaces them: look at them again. */
describe('pictures of the robot’s hand beside the person’s', () => {
  for (const version of ['v2', 'v1'])
    it(`are as they were when someone looked at them: ${version}`, () => {
      const file = path.join(packageRoot, 'docs', 'images', `hand-poses-${version}.svg`);
      const drawn = picture(`orca-${version}-right`);
      if (process.env['FARHAND_WRITE_PICTURES']) writeFileSync(file, drawn);
      const number = /-?\d+\.\d/g;
      const kept = readFileSync(file, 'utf8');
      assert.equal(drawn.replaceAll(number, ''), kept.replaceAll(number, ''));
      const [now, then] = [drawn, kept].map((text) =>
        Array.from(text.matchAll(number), ([found]) => Number(found)),
      );
      now!.forEach((value, i) => {
        assert.ok(Math.abs(value - then![i]!) <= MOST_PX, `number ${i}: ${value}, was ${then![i]}`);
      });
    });
});
