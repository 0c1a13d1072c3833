import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { describe, it } from 'node:test';
import { farhand, root } from './farhand.ts';

const bin = path.join(root, 'bin', 'farhand');

interface Answered {
  code: number | null;
  lines: Record<string, unknown>[];
  stderr: string;
}

/** Runs a verb with `input` on stdin. */
async function answered(args: readonly string[], input: string): Promise<Answered> {
  const child = spawn(process.execPath, [bin, ...args], { cwd: root, stdio: 'pipe' });
  let [out, stderr] = ['', ''];
  child.stdout.on('data', (data: Buffer) => {
    out += data.toString();
  });
  child.stderr.on('data', (data: Buffer) => {
    stderr += data.toString();
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  const lines = out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { code, lines, stderr };
}

const jsonLines = (values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');

function near(actual: unknown, expected: readonly number[], tolerance: number): void {
  const values = actual as number[];
  assert.equal(values.length, expected.length);
  values.forEach((value, i) => {
    assert.ok(Math.abs(value - expected[i]!) <= tolerance, `${values} is not ${expected}`);
  });
}

const bent = [0.5, -1, 1.2, -0.7, 0.3, 0.9];

describe('farhand fk', () => {
  it('gives the published poses, of the flange and of a link', async () => {
    const { code, lines } = await answered(
      ['fk', '--robot', 'ur3'],
      jsonLines([{ q: [0, 0, 0, 0, 0, 0] }, { q: bent }]),
    );
    assert.equal(code, 0);
    near(lines[0]!['positionM'], [-0.4569, -0.19425, 0.06655], 1e-9);
    near(lines[1]!['positionM'], [-0.262118, -0.360374, 0.25126], 1e-6);
    const third = await answered(['fk', '--robot', 'ur3', '--link', '3'], '{"q":[0,0,0,0,0,0]}');
    near(third.lines[0]!['positionM'], [-0.4569, 0, 0.1519], 1e-9);
    near(third.lines[0]!['quatXyzw'], [Math.SQRT1_2, 0, 0, Math.SQRT1_2], 1e-9);
    near(
      (third.lines[0]!['flange'] as { positionM: number[] }).positionM,
      [-0.4569, -0.19425, 0.06655],
      1e-9,
    );
  });

  it('answers a malformed line with a reason and continues', async () => {
    const input = [
      'nonsense',
      '[1]',
      '{"q":[1,2]}',
      '{"q":[0,0,0,0,0,1e999]}',
      '{"q":[0,0,0,0,0,null]}',
      '',
      '{"p":1}',
      'x'.repeat(1_500_000),
      '{"q":[0,0,0,0,0,0]}',
    ].join('\r\n');
    const { code, lines, stderr } = await answered(['fk', '--robot', 'ur3'], input);
    assert.equal(code, 0, stderr);
    assert.equal(lines.length, 8, 'an empty line gets no answer');
    for (const line of lines.slice(0, 7)) {
      assert.equal(line['status'], 'bad-input');
      assert.match(String(line['reason']), /\w/);
    }
    near(lines[7]!['positionM'], [-0.4569, -0.19425, 0.06655], 1e-9);
  });

  it('answers each line as it arrives', async () => {
    const child = spawn(process.execPath, [bin, 'fk', '--robot', 'ur3'], { cwd: root, stdio: 'pipe' });
    for (let i = 0; i < 3; i++) {
      child.stdin.write(`{"q":[${i},0,0,0,0,0]}\n`);
      const [data] = (await once(child.stdout, 'data')) as [Buffer];
      assert.match(data.toString(), /^\{"positionM":.*\}\n$/);
    }
    child.stdin.end();
    const [code] = (await once(child, 'close')) as [number];
    assert.equal(code, 0);
  });

  it('ends quietly when its output is closed', async () => {
    const child = spawn(process.execPath, [bin, 'fk', '--robot', 'ur3'], { cwd: root, stdio: 'pipe' });
    let stderr = '';
    child.stderr.on('data', (data: Buffer) => {
      stderr += data.toString();
    });
    child.stdin.on('error', () => {});
    child.stdin.write('{"q":[0,0,0,0,0,0]}\n');
    await once(child.stdout, 'data');
    child.stdout.destroy();
    child.stdin.end('{"q":[0,0,0,0,0,0]}\n'.repeat(50_000));
    const [code] = (await once(child, 'close')) as [number | null];
    assert.equal(code, 0, stderr);
    assert.equal(stderr, '');
  });

  it('reads a URDF file, with an optional tip link', async () => {
    const file = path.join('test', 'data', 'openarm-right.urdf');
    const q = [0.1, 0.2, 0.3, 1, 0.4, 0.5, 0.6];
    const [urdf, shipped] = await Promise.all([
      answered(['fk', '--robot', file], jsonLines([{ q }])),
      answered(['fk', '--robot', 'openarm'], jsonLines([{ q }])),
    ]);
    near(urdf.lines[0]!['positionM'], shipped.lines[0]!['positionM'] as number[], 1e-12);
    const tip = await answered(['fk', '--robot', `${file}#link5`], jsonLines([{ q: q.slice(0, 5) }]));
    assert.equal(tip.lines[0]!['status'], undefined);
  });
});

describe('farhand ik', () => {
  it('inverts fk on a hundred thousand lines', async () => {
    const count = 100_000;
    const qs = Array.from({ length: count }, (_, i) => ({
      q: bent.map((angle, j) => angle + 0.3 * Math.sin(i * (j + 1) * 0.37)),
    }));
    const posed = await answered(['fk', '--robot', 'ur3'], jsonLines(qs));
    assert.equal(posed.lines.length, count);
    const solved = await answered(
      ['ik', '--robot', 'ur3', '--method', 'analytic'],
      jsonLines(posed.lines.map((line, i) => ({ ...line, seed: qs[i]!.q }))),
    );
    assert.equal(solved.code, 0);
    assert.equal(solved.lines.length, count);
    solved.lines.forEach((line, i) => {
      if (line['status'] !== 'ok') assert.fail(JSON.stringify(line));
      if (i % 97 === 0) near(line['q'], qs[i]!.q, 1e-6);
    });
  });

  for (const [robot, method] of [
    ['ur3', 'decoupled'],
    ['ur3e', 'analytic'],
    ['piper', 'analytic'],
    ['piper-old', 'numeric'],
    ['openarm', 'numeric'],
  ] as const)
    it(`reaches a pose with and without a seed: ${robot} ${method}`, async () => {
      const q =
        robot === 'openarm' ? [0.3, 0.6, -0.2, 1.2, 0.1, -0.3, 0.4] : [0.4, 0.9, -0.8, 0.3, 0.5, -0.6];
      const posed = await answered(['fk', '--robot', robot], jsonLines([{ q }]));
      const elbow = await answered(['fk', '--robot', robot, '--link', '3'], jsonLines([{ q }]));
      const at = method === 'decoupled' ? elbow : posed;
      const pose = { positionM: at.lines[0]!['positionM'], quatXyzw: posed.lines[0]!['quatXyzw'] };
      const seed = q.map((angle) => angle + 0.05);
      const { lines } = await answered(
        ['ik', '--robot', robot, '--method', method],
        jsonLines([{ ...pose, seed }, pose]),
      );
      assert.deepEqual(
        lines.map((line) => line['status']),
        ['ok', 'ok'],
      );
      if (robot !== 'openarm') near(lines[0]!['q'], q, 1e-4);
      const back = await answered(
        ['fk', '--robot', robot],
        jsonLines(lines.map((line) => ({ q: line['q'] }))),
      );
      for (const line of back.lines)
        near((line['quatXyzw'] as number[]).map(Math.abs), (pose.quatXyzw as number[]).map(Math.abs), 1e-4);
      if (method !== 'decoupled')
        for (const line of back.lines) near(line['positionM'], pose.positionM as number[], 1e-4);
    });

  it('lists all solutions, and an empty list for an unreachable pose', async () => {
    const posed = await answered(['fk', '--robot', 'ur3'], jsonLines([{ q: bent }]));
    const far = { positionM: [3, 0, 0], quatXyzw: [0, 0, 0, 1] };
    const { lines } = await answered(['ik', '--robot', 'ur3', '--all'], jsonLines([...posed.lines, far]));
    const solutions = lines[0]!['solutions'] as number[][];
    assert.equal(solutions.length, 8);
    assert.ok(solutions.some((each) => each.every((angle, i) => Math.abs(angle - bent[i]!) < 1e-6)));
    const back = await answered(['fk', '--robot', 'ur3'], jsonLines(solutions.map((q) => ({ q }))));
    for (const line of back.lines) near(line['positionM'], posed.lines[0]!['positionM'] as number[], 1e-9);
    assert.deepEqual([lines[1]!['solutions'], lines[1]!['status']], [[], 'unreachable']);
    assert.equal((lines[1]!['q'] as number[]).length, 6, 'the nearest pose is still reported');
  });

  it('distinguishes an unreachable pose from invalid input', async () => {
    const lines = [
      { positionM: [3, 0, 0], quatXyzw: [0, 0, 0, 1] },
      { positionM: [0.3, 0, 0.3], quatXyzw: [0, 0, 0, 0] },
      { positionM: [0.3, 0, 0.3] },
      { positionM: [0.3, 0, 0.3], quatXyzw: [0, 0, 0, 1], seed: [0] },
    ];
    const status = async (...args: string[]) =>
      (await answered(['ik', '--robot', ...args], jsonLines(lines))).lines.map((line) => line['status']);
    const bad = ['bad-input', 'bad-input', 'bad-input'];
    assert.deepEqual(await status('ur3', '--method', 'decoupled'), ['clamped', ...bad]);
    assert.deepEqual(await status('ur3', '--method', 'analytic'), ['unreachable', ...bad]);
    assert.deepEqual(await status('openarm'), ['unreachable', ...bad]);
  });

  const wrong: [string, string[], RegExp, RegExp][] = [
    ['no robot', ['ik'], /needs --robot/, /ur3/],
    ['an unknown robot', ['ik', '--robot', 'ur33'], /no robot model named "ur33"/, /"ur3"/],
    [
      'an unknown method',
      ['ik', '--robot', 'ur3', '--method', 'analytc'],
      /no method "analytc"/,
      /--method analytic/,
    ],
    [
      'a method the robot lacks',
      ['ik', '--robot', 'openarm', '--method', 'analytic'],
      /no analytic solver/,
      /Use numeric/,
    ],
    [
      '--all without a closed form',
      ['ik', '--robot', 'openarm', '--all'],
      /--all needs a closed-form method/,
      /--method analytic/,
    ],
    ['a link out of range', ['fk', '--robot', 'ur3', '--link', '7'], /--link 7/, /--link/],
    ['a fractional link', ['fk', '--robot', 'ur3', '--link', '2.5'], /not a whole number/, /0 \(the base\)/],
    ['a missing URDF', ['fk', '--robot', 'none.urdf'], /none\.urdf does not exist/, /farhand robots/],
    ['an unknown action', ['robots', 'shw'], /robots has no action "shw"/, /robots show ur3/],
  ];
  for (const [what, args, message, hint] of wrong)
    it(`rejects ${what} with a hint`, async () => {
      const { code, stdout, stderr } = await farhand(args);
      assert.equal(code, 2, stderr);
      assert.equal(stdout, '');
      assert.match(stderr, message);
      assert.match(stderr, hint);
    });
});

describe('farhand robots', () => {
  it('lists the models with their solvers', async () => {
    const { code, stdout } = await farhand(['robots', '--json']);
    assert.equal(code, 0);
    const rows = JSON.parse(stdout) as { name: string; joints: number; methods: string[] }[];
    const find = (name: string) => rows.find((row) => row.name === name);
    assert.deepEqual(find('ur3')?.methods, ['decoupled', 'analytic', 'numeric']);
    assert.deepEqual(find('openarm'), { ...find('openarm'), joints: 7, methods: ['numeric', 'decoupled'] });
  });

  it('shows one, as text and as JSON', async () => {
    const text = await farhand(['robots', 'show', 'piper']);
    assert.equal(text.code, 0);
    assert.match(text.stdout, /joint3 .*-2\.967 /);
    assert.match(text.stdout, /upper_arm/);
    const json = await farhand(['robots', 'show', 'ur3', '--json']);
    const model = JSON.parse(json.stdout) as { homeRad: number[]; methods: string[] };
    assert.equal(model.homeRad.length, 6);
    const urdf = await farhand(['robots', 'show', path.join('test', 'data', 'openarm-right.urdf')]);
    assert.match(urdf.stdout, /note: chain to link "hand"/);
  });
});
