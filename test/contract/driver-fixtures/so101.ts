import { rmSync } from 'node:fs';
import path from 'node:path';
import { needs } from '../../needs.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import type { DriverFixture } from '../driver-fixture.ts';
import { startSimProcess } from '../sim-process.ts';

const fixture: DriverFixture = {
  model: 'so101',
  touch: ['effort', 'gripper'],
  skip: needs('Linux') || '',
  atOnce: 3,
  async start() {
    const folder = temporaryFolder('so101');
    const port = path.join(folder, 'tty');
    const sim = await startSimProcess(['so101', '--port', port]);
    return {
      options: { port },
      // The tty vanishes with its device; a dangling link could point to another test's terminal.
      kill: () => {
        sim.kill();
        rmSync(port, { force: true });
      },
      stop: async () => {
        await sim.stop();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};

export default fixture;
