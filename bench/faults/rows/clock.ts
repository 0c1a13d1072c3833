import { spawnSync } from 'node:child_process';
import type { Fault } from '../fault.ts';
import { pause } from '../trial-rig.ts';

const STEP_S = 3600;

/** Sets the clock of the whole machine: there is no namespace for the wall clock. */
function setWallClock(unixMs: number): boolean {
  return spawnSync('date', ['-s', `@${(unixMs / 1000).toFixed(3)}`]).status === 0;
}

export const CLOCK: readonly Fault[] = [
  {
    name: 'clock-step',
    what: 'wall clock set an hour ahead and back',
    seconds: 10,
    obstacle: ({ stepClock }) => {
      if (!stepClock) return 'sets the clock of the whole machine; allow it with --step-clock, as root';
      return process.getuid?.() === 0 ? null : 'needs root';
    },
    expected: { ends: ['engaged'], restMs: null, message: null },
    async run(rig) {
      const [wallMs, atMs] = [Date.now(), performance.now()];
      const trueMs = () => wallMs + performance.now() - atMs;
      rig.mark();
      try {
        rig.check(setWallClock(trueMs() + 1000 * STEP_S), 'the clock could not be set');
        await pause(2000);
      } finally {
        setWallClock(trueMs());
      }
      await pause(1500);
    },
  },
];
