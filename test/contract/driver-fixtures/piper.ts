import { rmSync } from 'node:fs';
import path from 'node:path';
import { needs } from '../../needs.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import type { DriverFixture } from '../driver-fixture.ts';
import { startSimProcess } from '../sim-process.ts';

const fixture: DriverFixture = {
  model: 'piper',
  touch: ['effort', 'gripper'],
  skip: needs('Linux') || '',
  // Ending a stop cuts the power for a moment: the simulated arm sags.
  recoverySagRad: 0.1,
  atOnce: 2,
  async start() {
    const folder = temporaryFolder('piper');
    const slcan = path.join(folder, 'slcan');
    const sim = await startSimProcess(['piper', '--slcan', slcan, '--start', '0,60,-60,0,20,0']);
    return {
      options: { bus: `slcan:${slcan}`, feedbackTimeoutMs: 1000 },
      kill: () => {
        sim.kill();
        // Its number is free now: another test's pseudo-terminal may reuse it.
        rmSync(slcan, { force: true });
      },
      stop: async () => {
        await sim.stop();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};

export default fixture;
