import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { QuadraticProgram } from './quadratic-program.ts';

interface Problem {
  h: number[][];
  g: number[];
  rows: { c: number[]; b: number }[];
}

const number = fc.integer({ min: -1000, max: 1000 }).map((n) => n / 500);
const vector = (size: number) => fc.array(number, { minLength: size, maxLength: size });

/** H = AᵀA + 0.05 I. Zero meets every row, as it does in the guided motion. */
const problem = fc.integer({ min: 1, max: 4 }).chain((size) =>
  fc.record({
    a: fc.array(vector(size), { minLength: size, maxLength: size }),
    g: vector(size),
    rows: fc.array(
      fc.record({ c: vector(size), b: fc.oneof(fc.constant(0), number).map((b) => Math.min(0, b)) }),
      { maxLength: 7 },
    ),
  }),
);

const asProblem = ({ a, g, rows }: { a: number[][]; g: number[]; rows: Problem['rows'] }): Problem => ({
  h: g.map((_, i) => g.map((__, k) => a.reduce((sum, row) => sum + row[i]! * row[k]!, i === k ? 0.05 : 0))),
  g,
  rows,
});

const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, x, i) => sum + x * b[i]!, 0);

/** Gaussian elimination with pivots; null if singular. */
function solve(matrix: number[][], right: number[]): number[] | null {
  const rows = matrix.map((row, i) => [...row, right[i]!]);
  for (let i = 0; i < rows.length; i++) {
    const pivot = rows.slice(i).reduce((best, row) => (Math.abs(row[i]!) > Math.abs(best[i]!) ? row : best));
    if (Math.abs(pivot[i]!) < 1e-9) return null;
    rows.splice(rows.indexOf(pivot), 1);
    rows.splice(i, 0, pivot);
    rows.forEach((row, k) => {
      if (k === i) return;
      const factor = row[i]! / pivot[i]!;
      row.forEach((_, m) => {
        row[m]! -= factor * pivot[m]!;
      });
    });
  }
  return rows.map((row, i) => row.at(-1)! / row[i]!);
}

/** The minimum by trying every set of active rows. */
function byEnumeration({ h, g, rows }: Problem): number[] {
  let best: number[] | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (let set = 0; set < 2 ** rows.length; set++) {
    const active = rows.filter((_, k) => ((set >> k) & 1) === 1);
    if (active.length > g.length) continue;
    // Hx − Cᵀλ = g, Cx = b.
    const matrix = [
      ...h.map((row, i) => [...row, ...active.map(({ c }) => -c[i]!)]),
      ...active.map(({ c }) => [...c, ...active.map(() => 0)]),
    ];
    const x = solve(matrix, [...g, ...active.map(({ b }) => b)])?.slice(0, g.length);
    if (x === undefined || !rows.every(({ c, b }) => dot(c, x) >= b - 1e-7)) continue;
    const cost = costOf(h, g, x);
    if (cost < least) [least, best] = [cost, x];
  }
  return best!;
}

const costOf = (h: number[][], g: number[], x: number[]) =>
  dot(
    h.map((row) => dot(row, x)),
    x,
  ) /
    2 -
  dot(g, x);

function addRow(program: QuadraticProgram, c: number[], b: number): void {
  program.c.set(c, program.row());
  program.b[program.rows - 1] = b;
}

function stated({ h, g, rows }: Problem): QuadraticProgram {
  const program = new QuadraticProgram(g.length, 10);
  program.h.set(h.flat());
  program.g.set(g);
  for (const { c, b } of rows) addRow(program, c, b);
  return program;
}

describe('a quadratic program', () => {
  it('has the minimum that trying every set of active rows finds', () => {
    fc.assert(
      fc.property(problem, (given) => {
        const own = asProblem(given);
        const program = stated(own);
        assert.equal(program.solve(), true);
        const expected = byEnumeration(own);
        const x = [...program.x];
        for (const { c, b } of own.rows) assert.ok(dot(c, x) >= b - 1e-7, `${dot(c, x)} < ${b}`);
        const more = costOf(own.h, own.g, x) - costOf(own.h, own.g, expected);
        assert.ok(more < 1e-6, `${x} costs ${more} more than ${expected}`);
      }),
      { numRuns: 500 },
    );
  });

  it('lists the rows that hold the solution back', () => {
    const program = stated({
      h: [
        [1, 0],
        [0, 1],
      ],
      g: [2, -1],
      rows: [
        { c: [-1, 0], b: -0.5 },
        { c: [0, 1], b: -3 },
      ],
    });
    program.solve();
    assert.deepEqual([...program.x], [0.5, -1]);
    assert.deepEqual([...program.active.subarray(0, program.actives)], [0]);
  });

  it('returns false if the rows contradict each other', () => {
    const program = stated({
      h: [[1]],
      g: [0],
      rows: [
        { c: [1], b: 1 },
        { c: [-1], b: 1 },
      ],
    });
    assert.equal(program.solve(), false);
    assert.ok(Number.isFinite(program.x[0]!));
  });

  it('solves the same problem to the same bits, whatever it solved before', () => {
    fc.assert(
      fc.property(problem, problem, (first, second) => {
        fc.pre(first.g.length === second.g.length);
        const used = stated(asProblem(second));
        used.solve();
        const own = asProblem(first);
        used.rows = 0;
        used.h.set(own.h.flat());
        used.g.set(own.g);
        for (const { c, b } of own.rows) addRow(used, c, b);
        used.solve();
        const fresh = stated(own);
        fresh.solve();
        assert.deepEqual(used.x, fresh.x);
      }),
    );
  });
});
