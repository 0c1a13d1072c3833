import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { packageRoot } from '../../src/files/package-root.ts';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import { wantedOf, wantedTurnOf } from './hand-script.ts';
import type { Judged, JudgeSettings } from './judge.ts';
import type { Motion } from './motions.ts';
import { type Arm, add, norm, pose, product, times, turned, type Vec } from './screw-kinematics.ts';

const SCRIPT = path.join(packageRoot, 'bench', 'motion', 'follow_with_mink.py');
const PYTHON = process.env['PYTHON'] ?? 'python3';

/** Null if mink can be imported, else how to get it. */
export function whyNoMink(): string | null {
  const { status } = spawnSync(PYTHON, ['-c', 'import mink, quadprog'], { stdio: 'ignore' });
  if (status === 0) return null;
  return `${PYTHON} cannot import mink. Install it in a virtual environment and name its interpreter:
  python3 -m venv mink && mink/bin/pip install mink quadprog && PYTHON=mink/bin/python npm run bench -- motion --mink`;
}

/** mink gets the hand's wanted pose in every control cycle, with no delay, filter or acceleration limit, and the table. */
export function followByMink(
  model: RobotModel,
  motion: Motion,
  settings: JudgeSettings,
  hz: number,
): Judged[] {
  const { arm, lead, homeRad, scale, limits, groundZM, stopM } = settings;
  const { frames } = pose(arm, homeRad);
  const at = wantedOf(motion.samples, scale);
  const turn = wantedTurnOf(motion.samples);
  const count = Math.floor(motion.samples.at(-1)!.tS * hz);
  const targets = Array.from({ length: count }, (_, n) => ({
    p: add(frames[lead]!.p, at(n / hz)),
    r: product(matrixOf(turn(n / hz)), frames[arm.joints]!.r),
  }));
  const asked = {
    mjcf: mjcfOf(model, arm, groundZM),
    clearM: groundZM === null ? null : stopM,
    lead,
    dtS: 1 / hz,
    homeRad,
    velocityRadS: limits.velocityRadS,
    targets,
  };
  const { status, stdout, stderr } = spawnSync(PYTHON, [SCRIPT], {
    input: JSON.stringify(asked),
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  });
  if (status !== 0) throw new Error(`mink failed: ${stderr}`);
  const rows = JSON.parse(stdout) as number[][];
  return rows.map((targetRad, n) => ({ tS: n / hz, state: 'engaged', limitedBy: [], targetRad }));
}

function matrixOf([x, y, z, w]: Vec): number[] {
  const [a, b, c, d] = [x!, y!, z!, w!];
  return [
    1 - 2 * (b * b + c * c),
    2 * (a * b - c * d),
    2 * (a * c + b * d),
    2 * (a * b + c * d),
    1 - 2 * (a * a + c * c),
    2 * (b * c - a * d),
    2 * (a * c - b * d),
    2 * (b * c + a * d),
    1 - 2 * (a * a + b * b),
  ];
}

/** A capsule of no length is a sphere. */
function geomOf({ fromM, toM, radiusM }: RobotModel['capsules'][number], k: number): string {
  const shape =
    norm(add(toM, fromM, -1)) > 1e-6
      ? `fromto="${[...fromM, ...toM].join(' ')}"`
      : `pos="${fromM.join(' ')}"`;
  const type = shape.startsWith('fromto') ? 'capsule' : 'sphere';
  return `<geom name="part${k}" type="${type}" ${shape} size="${radiusM}" mass="0"/>`;
}

/** The arm as a MuJoCo model: one body per frame, named by its number. */
function mjcfOf({ joints, capsules }: RobotModel, { screws, zero }: Arm, groundZM: number | null): string {
  const text = (v: Vec) => v.map((value) => value.toPrecision(12)).join(' ');
  const open = screws.map(({ axis, point }, i) => {
    const [parent, own] = [zero[i]!, zero[i + 1]!];
    const back = turned(own.r);
    const r = product(turned(parent.r), own.r);
    const pos = times(turned(parent.r), add(own.p, parent.p, -1));
    const { minRad, maxRad } = joints[i]!;
    return `<body name="${i + 1}" pos="${text(pos)}" xyaxes="${text([r[0]!, r[3]!, r[6]!, r[1]!, r[4]!, r[7]!])}">
<joint name="j${i + 1}" axis="${text(times(back, axis))}" pos="${text(times(back, add(point, own.p, -1)))}" range="${minRad} ${maxRad}"/>
<geom size="0.01" mass="0.1" contype="0" conaffinity="0"/>
${capsules.map((capsule, k) => (capsule.frame === i + 1 ? geomOf(capsule, k) : '')).join('')}`;
  });
  const table =
    groundZM === null ? '' : `<geom name="table" type="plane" pos="0 0 ${groundZM}" size="2 2 0.1"/>`;
  return `<mujoco><compiler angle="radian" autolimits="true"/><worldbody>${table}${open.join('\n')}${'</body>'.repeat(open.length)}</worldbody></mujoco>`;
}
