import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createChain } from '../../src/geometry/chain.ts';
import { MS, robotPeer, SimulatedRig } from './simulated-rig.ts';

/** A hand moving back and forth at up to 0.38 m/s. */
const FAST = ['periodS=3', 'widthM=0.18', 'heightM=0.02'].map((text) => `operator.inputs.scripted.${text}`);
const SPEED_M_S = 0.38;
const LINK_MS = 2;

/** The commanded flange position over time. */
async function flangePath(lateMs: (stampMs: number) => number): Promise<Map<number, number[]>> {
  const rig = await SimulatedRig.create({
    overrides: ['robot.playout=none', 'robot.slowdownM=0.006', 'robot.stopM=0.005', ...FAST],
  });
  const startNs = rig.nowNs;
  rig.impair = (_, to, nowNs) =>
    (LINK_MS + (to === robotPeer(0) ? lateMs(Math.round((nowNs - startNs) / MS)) : 0)) * MS;
  rig.runFor(9000);
  const chain = createChain(rig.model);
  const [pointM, quat] = [new Float64Array(3), new Float64Array(4)];
  const path = new Map<number, number[]>();
  for (const { atNs, positionsRad } of rig.robot.driver.writes) {
    chain.frame(Float64Array.from(positionsRad), rig.model.joints.length, pointM, quat);
    // The robot's cycles are at the same times in every run; commands are not.
    path.set(Math.round((atNs - startNs) / MS), [...pointM]);
  }
  return path;
}

describe('a late command', () => {
  it('delays the arm no more than it is late, and keeps it on its path', async () => {
    const steady = await flangePath(() => 0);
    for (const [every, byMs] of [
      [370, 9],
      [410, 19],
    ] as const) {
      // One every `every` ms, at varying positions of the path.
      const late = await flangePath((ms) => (ms > 3000 && ms % every < 10 ? byMs : 0));
      let [worstMm, offPathMm, compared] = [0, 0, 0];
      for (const [ms, [x, y, z]] of late) {
        const other = steady.get(ms);
        if (ms < 3000 || other === undefined) continue;
        compared++;
        const apartMm = (at: readonly number[]) => 1000 * Math.hypot(x! - at[0]!, y! - at[1]!, z! - at[2]!);
        worstMm = Math.max(worstMm, apartMm(other));
        const nearby = Array.from({ length: 61 }, (_, n) => steady.get(ms + n - 30)).filter(Boolean);
        offPathMm = Math.max(offPathMm, Math.min(...nearby.map((at) => apartMm(at!))));
      }
      assert.ok(compared > 500, `${compared}`);
      // The robot waits a little longer for such a stream; its path stays.
      assert.ok(worstMm > 0.2 && worstMm < SPEED_M_S * (byMs + 20), `${worstMm} mm, ${byMs} ms late`);
      assert.ok(offPathMm < 2.5, `${offPathMm} mm off the path, ${byMs} ms late`);
    }
  });
});
