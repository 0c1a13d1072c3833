import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Percentiles } from '../../src/core/statistics/percentiles.ts';
import { packageRoot } from '../../src/files/package-root.ts';
import { createChain, TRANSFORM_SIZE } from '../../src/geometry/chain.ts';
import { interruption } from '../interrupt.ts';
import type { Targets } from './targets.ts';

/** Results of the peer on the same targets from the same seeds. */
export interface KdlTiming {
  name: string;
  perS: number;
  perCpuS: number;
  callUs: Percentiles;
  /** Within the same tolerance and inside the joint limits; null for forward kinematics. */
  rightPercent: number | null;
}

export type KdlResult = { ok: true; version: string; timings: KdlTiming[] } | { ok: false; why: string };

const run = promisify(execFile);
const COMPILER = process.env['CXX'] ?? 'g++';

/** Orocos KDL, built from kdl.cpp beside this file if compiler and library are installed. */
export async function runKdl(arms: readonly { label: string; targets: Targets }[]): Promise<KdlResult> {
  const artifacts = path.join(packageRoot, 'artifacts');
  mkdirSync(artifacts, { recursive: true });
  const folder = mkdtempSync(path.join(artifacts, 'kdl-'));
  try {
    const program = path.join(folder, 'kdl');
    const source = path.join(packageRoot, 'bench', 'kinematics', 'kdl.cpp');
    // No -march: Eigen's alignment must be that of the installed library.
    const flags = ['-O3', '-DNDEBUG', '-std=c++17', '-I/usr/include/eigen3'];
    await run(COMPILER, [...flags, source, '-o', program, '-lorocos-kdl'], { signal: interruption });
    const timings: KdlTiming[] = [];
    let version = '';
    for (const { label, targets } of arms) {
      const data = path.join(folder, 'targets.txt');
      writeFileSync(data, dataText(targets));
      const { stdout } = await run(program, [data], { signal: interruption });
      const reported = JSON.parse(stdout) as { version: string; timings: KdlTiming[] };
      version = reported.version;
      timings.push(...reported.timings.map((each) => ({ ...each, name: `${label} ${each.name}` })));
    }
    return { ok: true, version, timings };
  } catch (error) {
    interruption.throwIfAborted();
    const first = (error as Error & { stderr?: string }).stderr?.split('\n')[0];
    return { ok: false, why: first || (error as Error).message.split('\n')[0]! };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Joints as axis and point in the base frame at zero, limits, the flange at zero, then joints, poses and seeds. */
function dataText({ model, count, qRad, positionM, quatXyzw, seedRad }: Targets): string {
  const chain = createChain(model);
  const n = chain.joints;
  const jacobian = new Float64Array(6 * n);
  const flange = new Float64Array(TRANSFORM_SIZE);
  chain.jacobian(new Float64Array(n), jacobian, flange);
  const lines = [`${n} ${count}`];
  model.joints.forEach(({ minRad, maxRad }, j) => {
    const [vx, vy, vz, zx, zy, zz] = [0, 1, 2, 3, 4, 5].map((row) => jacobian[row * n + j]!) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    // v = z × r with r from the axis to the flange, so r without its part along z is v × z.
    const pointM = [
      flange[3]! - (vy * zz - vz * zy),
      flange[7]! - (vz * zx - vx * zz),
      flange[11]! - (vx * zy - vy * zx),
    ];
    lines.push([zx, zy, zz, ...pointM, minRad, maxRad].join(' '));
  });
  lines.push(Array.from(flange).join(' '));
  for (let i = 0; i < count; i++)
    lines.push([...qRad[i]!, ...positionM[i]!, ...quatXyzw[i]!, ...seedRad[i]!].join(' '));
  return `${lines.join('\n')}\n`;
}
