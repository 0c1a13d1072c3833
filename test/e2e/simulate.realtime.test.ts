import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { describe, it } from 'node:test';

/** Runs `farhand simulate` with hand samples on its standard input. */
async function simulate(args: readonly string[], input: string) {
  const child = spawn(process.execPath, [path.join('bin', 'farhand'), 'simulate', ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const out = { stdout: '', stderr: '' };
  child.stdout.on('data', (data: Buffer) => {
    out.stdout += data.toString();
  });
  child.stderr.on('data', (data: Buffer) => {
    out.stderr += data.toString();
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...out };
}

const sample = (tS: number, x: number, more: object = {}) =>
  JSON.stringify({
    tS,
    positionM: [x, 1.2, -0.3],
    quatXyzw: [0, 0, 0, 1],
    clutch: true,
    tracking: true,
    ...more,
  });
/** A hand that moves 5 cm to the right in a second and stays there for one. */
const HAND = Array.from({ length: 145 }, (_, n) => {
  const s = Math.max(0, Math.min(1, n / 72 - 0.5));
  return sample(n / 72, 0.05 * s * s * (3 - 2 * s));
}).join('\n');

describe('farhand simulate', () => {
  it('prints one line per control cycle, in which the tool goes where the hand asks it to', async () => {
    const { code, stdout, stderr } = await simulate(['--rig', 'piper'], `${HAND}\n`);
    assert.equal(code, 0, stderr);
    const cycles = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.ok(Math.abs(cycles.length - 401) <= 1, `${cycles.length} cycles of 5 ms in 2 s`);
    for (const cycle of cycles)
      assert.deepEqual(
        Object.entries(cycle).map(([key, value]) => [
          key,
          Array.isArray(value) ? value.length : typeof value,
        ]),
        [
          ['tS', 'number'],
          ['state', 'string'],
          ['limitedBy', (cycle['limitedBy'] as string[]).length],
          ['targetRad', 6],
          ['wantedM', 3],
          ['wantedQuatXyzw', 4],
          ['toolM', 3],
          ['toolQuatXyzw', 4],
        ],
      );
    const last = cycles.at(-1)!;
    assert.equal(last['state'], 'engaged');
    const [first, tool, wanted] = [cycles[0]!['toolM'], last['toolM'], last['wantedM']] as number[][];
    assert.ok(Math.hypot(...tool!.map((m, i) => m - wanted![i]!)) < 5e-4);
    // Right is −y in the base frame; the rig scales hands by 0.75.
    assert.ok(Math.abs(tool![1]! - first![1]! + 0.75 * 0.05) < 1e-3, `${tool![1]! - first![1]!} m`);
  });

  it('is repeatable, and takes settings', async () => {
    const [first, again, slow] = await Promise.all([
      simulate(['--rig', 'piper'], HAND),
      simulate(['--rig', 'piper'], HAND),
      simulate(['--rig', 'piper', 'operator.mapper.scale=0.3'], HAND),
    ]);
    assert.equal(first.stdout, again.stdout);
    assert.equal(slow.code, 0);
    assert.notEqual(first.stdout, slow.stdout);
  });

  it('names the line that is wrong, and what is', async () => {
    for (const [lines, pattern] of [
      [[sample(0, 0), '{"tS":'], /line 2 .*not JSON/],
      [[sample(0, 0), sample(0, 0)], /line 2 .*tS must increase/],
      [[sample(0, 0), '{"tS":1}'], /line 2 .*positionM/],
      [[sample(0, 0, { quatXyzw: [0, 0, 1] })], /line 1 .*quatXyzw/],
      [[sample(-1, 0)], /line 1 .*tS/],
    ] as const) {
      const { code, stderr } = await simulate(['--rig', 'piper'], lines.join('\n'));
      assert.equal(code, 2, stderr);
      assert.match(stderr, pattern);
      assert.match(stderr, /simulate --help/);
    }
    const { code, stderr } = await simulate(['--rig', 'orca'], HAND);
    assert.notEqual(code, 0);
    assert.match(stderr, /is a hand/);
  });
});
