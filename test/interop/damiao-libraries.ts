import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { packageRoot } from '../../src/files/package-root.ts';
import { frameText } from '../../src/robot/buses/can-frame.ts';
import { motorFrame, ORDER, orderFrame, readFrame, setMit } from '../../src/robot/buses/damiao/frames.ts';
import { MOTOR_TYPES, type MotorLimits } from '../../src/robot/buses/damiao/motors.ts';
import { type ArmName, DamiaoRig } from '../damiao/damiao-rig.ts';
import { needs } from '../needs.ts';
import { pythonWith, runPython } from './python-venv.ts';

const PEER = path.join(packageRoot, 'test', 'e2e', 'damiao_peer.py');
const PEER_MS = 30_000;

/** Public libraries for Damiao motors, each with an adapter it supports. */
const LIBRARIES: readonly {
  library: string;
  imports: string;
  packages: string[];
  arm: ArmName;
  motor: number;
  limits: MotorLimits;
  gains: [kp: number, kd: number];
}[] = [
  {
    library: 'damiao-motor',
    imports: 'damiao_motor, can, serial',
    packages: ['damiao-motor==1.0.6', 'python-can==4.6.1', 'pyserial==3.5'],
    arm: 'openarm',
    motor: 5,
    limits: MOTOR_TYPES.DM4310[0],
    gains: [10, 0.7],
  },
  {
    library: 'motorbridge',
    imports: 'motorbridge',
    packages: ['motorbridge==0.5.6'],
    arm: 'dk1',
    motor: 2,
    limits: MOTOR_TYPES.DM4340[0],
    gains: [70, 3],
  },
];

export function damiaoLibrary(name: string): void {
  const { library, imports, packages, arm, motor, limits, gains } = LIBRARIES.find(
    ({ library }) => library === name,
  )!;
  describe(`${library}, a public library for Damiao motors`, { timeout: 300_000 }, () => {
    it(`drives a motor of our simulated ${arm} with the same bytes as our driver`, async (t) => {
      const noTerminal = needs('Linux');
      const found = noTerminal
        ? { ok: false as const, why: noTerminal }
        : await pythonWith(imports, ...packages);
      if (!found.ok) {
        t.skip(found.why);
        return;
      }
      const rig = await DamiaoRig.start(arm);
      try {
        const own = rig.sim.arm.motors[motor - 1]!;
        const goalRad = own.positionRad + 0.2;
        const args = [PEER, library, rig.link, String(motor), String(goalRad)];
        const { stdout, stderr } = await runPython(found.python, args, PEER_MS);
        const line = stdout.split('\n').find((text) => text.startsWith('result '));
        assert.ok(line !== undefined, `${stdout}${stderr}`);
        const result = JSON.parse(line.slice(7)) as {
          limits: number[];
          pos: number;
          status: string | number;
        };
        assert.deepEqual(result.limits, [limits.positionRad, limits.velocityRadS, limits.torqueNm]);
        assert.match(String(result.status), /^(1|ENABLED)$/);
        for (const rad of [result.pos, own.positionRad]) assert.ok(Math.abs(rad - goalRad) < 5e-3, `${rad}`);
        assert.equal(own.enabled, false, 'disabled at the end');
        const mit = motorFrame(motor, false);
        setMit(mit, limits, goalRad, 0, gains[0], gains[1], 0);
        for (const frame of [
          readFrame(motor, 21, false),
          orderFrame(motor, ORDER.enable, false),
          mit,
          orderFrame(motor, ORDER.disable, false),
        ])
          assert.ok(rig.commands.includes(frameText(frame)), `${frameText(frame)} was sent`);
      } finally {
        rig.end();
      }
    });
  });
}
