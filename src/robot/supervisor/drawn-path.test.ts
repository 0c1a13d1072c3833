import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DrawnPath } from './drawn-path.ts';
import type { JointLimits } from './limits.ts';

const MS = 1e6;
const limits: JointLimits = {
  minRad: Float64Array.of(-10, -10),
  maxRad: Float64Array.of(10, 10),
  velocityRadS: Float64Array.of(2, 3),
  accelerationRadS2: Float64Array.of(10, 20),
  jerkRadS3: Float64Array.of(500, 1000),
};
const H = 1e-4;

const turn = fc.integer({ min: -60, max: 60 }).map((mrad) => mrad / 1000);
const strokes = fc.array(fc.record({ byRad: fc.tuple(turn, turn), nodes: fc.integer({ min: 1, max: 12 }) }), {
  minLength: 1,
  maxLength: 8,
});

function drawn(given: readonly { byRad: readonly [number, number]; nodes: number }[]): DrawnPath {
  const path = new DrawnPath(limits);
  const at = Float64Array.of(0.2, -0.4);
  path.restart(at, 0);
  let ms = 0;
  for (const { byRad, nodes } of given)
    for (let n = 0; n < nodes; n++) {
      at[0]! += byRad[0];
      at[1]! += byRad[1];
      ms += 10;
      path.add(at, ms * MS);
    }
  return path;
}

/** Positions, first and second derivatives at u. */
function look(path: DrawnPath, u: number): [Float64Array, Float64Array, Float64Array] {
  const out = [0, 1, 2].map(() => new Float64Array(2)) as [Float64Array, Float64Array, Float64Array];
  path.u = u;
  path.look(...out);
  return out;
}

describe('a drawn path', () => {
  it('is smooth: its derivatives are those of its positions, also across nodes', () => {
    fc.assert(
      fc.property(strokes, fc.double({ min: 0, max: 1, noNaN: true }), (given, share) => {
        const path = drawn(given);
        const u = 1 + share * (path.endU - 1 - 2 * H);
        const [now, first] = look(path, u);
        const [ahead, firstAhead] = look(path, u + H);
        const [, , second] = look(path, u + H / 2);
        for (let i = 0; i < 2; i++) {
          const slope = (ahead[i]! - now[i]!) / H;
          assert.ok(Math.abs(slope - (first[i]! + firstAhead[i]!) / 2) < 1e-5);
          // Its second derivative jumps at the middle between nodes only.
          if (Math.floor(u + 0.5) === Math.floor(u + H + 0.5))
            assert.ok(Math.abs((firstAhead[i]! - first[i]!) / H - second[i]!) < 1e-6);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('keeps to the nodes: a straight stroke stays straight, a corner is cut by an eighth of its bend', () => {
    const path = drawn([{ byRad: [0.01, 0.02], nodes: 20 }]);
    for (let u = 5; u < path.endU; u += 0.13) {
      const [at] = look(path, u);
      assert.ok(Math.abs((at[0]! - 0.2) * 2 - (at[1]! + 0.4)) < 1e-12);
    }
    const corner = drawn([
      { byRad: [0.04, 0], nodes: 10 },
      { byRad: [0, 0.04], nodes: 10 },
    ]);
    // Restarting put two nodes at the start, so the corner is node 11.
    const [at] = look(corner, 11);
    assert.ok(Math.abs(at[0]! - (0.6 - 0.005)) < 1e-12 && Math.abs(at[1]! - (-0.4 + 0.005)) < 1e-12);
  });

  it('plans a speed at which brute force finds every limit kept, with braking to every slower place', () => {
    fc.assert(
      fc.property(strokes, (given) => {
        const path = drawn(given);
        const STEP = 0.5;
        // From rest, as fast as the plan and the joints' limits allow: it must always be able to obey the plan.
        let square = 0;
        for (let u = 1; u + STEP < path.endU; u += STEP) {
          const next = path.mostAt(u + STEP);
          const [, firstA, second] = look(path, u + 1e-9);
          const [, firstB] = look(path, u + STEP - 1e-9);
          let [low, high] = [-square / (2 * STEP), (next - square) / (2 * STEP)];
          for (let i = 0; i < 2; i++) {
            const most = limits.accelerationRadS2[i]!;
            assert.ok(Math.abs(firstA[i]!) * Math.sqrt(square) <= limits.velocityRadS[i]! + 1e-9, 'velocity');
            assert.ok(Math.abs(look(path, u - 1e-9)[2][i]!) * square <= most + 1e-6, 'where it stands');
            // At the far end the speed has changed with y.
            for (const first of [firstA[i]!, firstB[i]! + 2 * STEP * second[i]!]) {
              if (Math.abs(first) < 1e-9) continue;
              const [a, b] = [-1, 1].map((sign) => (sign * most - second[i]! * square) / first);
              low = Math.max(low, Math.min(a!, b!));
              high = Math.min(high, Math.max(a!, b!));
            }
          }
          assert.ok(low <= high + 1e-6 * Math.max(1, Math.abs(low)), `u ${u}: ${low} to ${high}`);
          square = Math.max(0, square + 2 * STEP * high);
          if (square > next) square = next;
        }
      }),
      { numRuns: 200 },
    );
  });

  it('forgets and cuts: the path goes on from where it is to the newest node', () => {
    const path = drawn([{ byRad: [0.01, -0.01], nodes: 100 }]);
    const [before] = look(path, 50);
    path.u = 50;
    path.forget();
    assert.deepEqual(look(path, 50)[0], before);
    path.cut(50);
    const [after] = look(path, 50);
    assert.ok(Math.abs(after[0]! - before[0]!) < 1e-12);
    assert.ok(path.last <= 52, 'the rest of the way is one stroke');
    assert.ok(Math.abs(path.newest(0) - (0.2 + 1)) < 1e-9);
  });

  it('keeps time: where the path is at a node’s time is that node', () => {
    const path = drawn([{ byRad: [0.01, 0], nodes: 30 }]);
    const uAt = (ns: number, fromU: number): number => {
      path.soughtNs = ns;
      path.u = fromU;
      path.find();
      return path.u;
    };
    for (let k = 5; k <= path.last; k++) assert.ok(Math.abs(uAt(path.nodeNs(k), k - 3) - k) < 1e-9);
    assert.ok(Math.abs(uAt(path.nodeNs(path.last) + 10 * MS, 0) - path.last - 1) < 0.05);
  });

  it('stays finite for any poses and times, and when it is full', () => {
    const node = fc.tuple(turn, turn, fc.integer({ min: -50, max: 500 }));
    fc.assert(
      fc.property(fc.array(node, { maxLength: 60 }), (nodes) => {
        const path = new DrawnPath(limits, 32);
        path.restart(new Float64Array(2), 0);
        let ms = 0;
        for (const [a, b, afterMs] of nodes) {
          if (path.isFull) path.cut(path.endU - 5);
          path.u = path.endU - 3;
          path.forget();
          ms += afterMs;
          path.add([a, b], ms * MS);
          for (const u of [path.first, path.endU - 1, path.endU, path.last + 3]) {
            for (const part of look(path, u)) assert.ok(part.every(Number.isFinite), `${u}`);
            assert.ok(path.mostAt(Math.max(u, path.first + 1)) >= 0);
          }
        }
      }),
    );
  });
});
