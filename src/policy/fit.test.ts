import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkFit } from './fit.ts';
import { NO_FACTS } from './policy.ts';

const robot = { name: 'ur3', joints: ['a', 'b'], cameras: ['front', 'wrist'] };
const fit = (facts: Partial<typeof NO_FACTS>) => {
  const warnings: string[] = [];
  checkFit({ ...NO_FACTS, name: 'p', ...facts }, robot, (text) => warnings.push(text));
  return warnings;
};

describe('whether a policy fits a robot', () => {
  it('one that declares nothing, or less than there is, does', () => {
    assert.deepEqual(fit({}), []);
    assert.deepEqual(fit({ joints: ['a', 'b'], cameras: ['wrist'] }), []);
  });

  it('one for another number of joints, or with a camera that the rig lacks, does not', () => {
    assert.throws(() => fit({ joints: ['a'] }), /p drives 1 joints, ur3 has 2/);
    assert.throws(
      () => fit({ cameras: ['wrist', 'nose'] }),
      /p needs camera nose; this rig has cameras front, wrist/,
    );
  });

  it('joints of other names are warned about', () => {
    assert.match(fit({ joints: ['b', 'a'] })[0]!, /was trained on joints b, a; those of ur3 are a, b/);
  });
});
