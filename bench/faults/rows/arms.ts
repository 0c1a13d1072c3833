import type { Fault } from '../fault.ts';
import { pause } from '../trial-rig.ts';
import { CALM, type TrialArm } from '../trial-settings.ts';

const ARMS: Partial<Record<TrialArm, string>> = {
  piper: 'Piper',
  ur3: 'UR3',
  xarm6: 'xArm6',
  orca: 'ORCA hand',
  openarm: 'OpenArm',
};

/** The arm is gone, so rest is judged by its targets. */
export const ARM_KILLS: readonly Fault[] = Object.entries(ARMS).map(([arm, title]) => ({
  name: `kill-arm-${arm}`,
  what: `${title}: simulator killed (\`kill -9\`)`,
  seconds: 11,
  settings: { arm: arm as TrialArm, ...CALM },
  expected: {
    through: ['stopped'],
    ends: ['stopped'],
    restMs: 1300,
    message: /^robot: \w+ → stopped: ./,
  },
  async run(rig) {
    rig.sim!.child.kill('SIGKILL');
    rig.mark();
    await pause(2500);
  },
}));
