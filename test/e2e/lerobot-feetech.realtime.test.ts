import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { packageRoot } from '../../src/files/package-root.ts';
import { saveCalibration } from '../../src/robot/drivers/so101/calibration-file.ts';
import { startSimProcess } from '../contract/sim-process.ts';
import { runPython } from '../interop/python-venv.ts';
import { absent, needs, PYTHON } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const SCRIPT = path.join(packageRoot, 'test', 'interop', 'lerobot_feetech.py');
const RANGES = [
  [796, 3300],
  [910, 3186],
  [946, 3150],
  [967, 3129],
  [260, 3902],
  [2000, 3400],
] as const;

/** LeRobot brings gigabytes: it is not installed for this test, only used. */
async function missing(): Promise<string | false> {
  const noTerminal = needs('Linux', 'python');
  if (noTerminal) return noTerminal;
  const found = await runPython(PYTHON, ['-c', 'import lerobot.motors.feetech, scservo_sdk'], 60_000);
  const how = 'pip install "lerobot[feetech]==0.4.4" into an environment, and set PYTHON to its interpreter';
  return found.code === 0 ? false : absent('lerobot', how, false);
}

describe('LeRobot’s Feetech bus and the simulated SO-101', { skip: await missing() }, () => {
  it('connects, knows the calibration in our file, reads, and moves every joint', async () => {
    const folder = temporaryFolder('lerobot-feetech');
    const port = path.join(folder, 'tty');
    const file = path.join(folder, 'arm.json');
    saveCalibration(
      file,
      RANGES.map(([range_min, range_max], i) => ({
        ...{ id: i + 1, drive_mode: 0, homing_offset: 0 },
        range_min,
        range_max,
      })),
    );
    const sim = await startSimProcess(['so101', '--port', port]);
    try {
      const answer = await runPython(PYTHON, [SCRIPT, port, file], 60_000);
      assert.equal(answer.code, 0, answer.stderr.slice(-2000));
      const { connected, calibrated, from, to } = JSON.parse(answer.stdout.trim().split('\n').at(-1)!) as {
        connected: boolean;
        calibrated: boolean;
        from: Record<string, number>;
        to: Record<string, number>;
      };
      assert.deepEqual([connected, calibrated], [true, true]);
      for (const [name, value] of Object.entries(from))
        assert.ok(Math.abs(value - (name === 'gripper' ? 50 : 0)) < 0.2, `${name} starts at ${value}`);
      for (const [name, value] of Object.entries(to))
        assert.ok(Math.abs(value - (name === 'gripper' ? 80 : 5)) < 0.3, `${name} is at ${value}`);
    } finally {
      await sim.stop();
    }
  });
});
