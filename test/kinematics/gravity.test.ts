import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createChain } from '../../src/geometry/chain.ts';
import { quatRotate } from '../../src/geometry/frames.ts';
import { GravityLoad, type LinkMass } from '../../src/geometry/gravity.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { xorshift } from '../xorshift.ts';

describe('gravity load', () => {
  for (const name of ['so101', 'openarm', 'dk1'])
    it(`of ${name} is the slope of the potential energy`, () => {
      const model = loadModel(name);
      const random = xorshift(3);
      const links: LinkMass[] = model.joints.map(() => ({
        massKg: 0.1 + random(),
        centreM: [0.1 * random(), 0.1 * random(), 0.1 * random()],
      }));
      const chain = createChain(model);
      const [p, quat, centre] = [new Float64Array(3), new Float64Array(4), new Float64Array(3)];
      const energyJ = (q: Float64Array): number =>
        links.reduce((sum, { massKg, centreM }, i) => {
          chain.frame(q, i + 1, p, quat);
          quatRotate(quat, Float64Array.from(centreM), centre);
          return sum + 9.81 * massKg * (p[2]! + centre[2]!);
        }, 0);
      const load = new GravityLoad(model, links);
      const nm = new Float64Array(model.joints.length);
      for (let round = 0; round < 20; round++) {
        const q = Float64Array.from(
          model.joints,
          ({ minRad, maxRad }) => minRad + random() * (maxRad - minRad),
        );
        load.into(q, nm);
        for (let i = 0; i < nm.length; i++) {
          const [up, down] = [q.slice(), q.slice()];
          up[i]! += 1e-5;
          down[i]! -= 1e-5;
          const slope = (energyJ(up) - energyJ(down)) / 2e-5;
          assert.ok(Math.abs(slope - nm[i]!) < 1e-5, `joint ${i}: ${nm[i]}, not ${slope}`);
        }
      }
    });
});
