import { CALM } from '../calm.ts';
import { type Fault, HOLD_REST_MS } from '../fault.ts';
import { pause, type TrialRig } from '../trial-rig.ts';

const kill = (process: 'operator' | 'robot' | 'sim') => (rig: TrialRig) => {
  rig[process]!.child.kill('SIGKILL');
  rig.mark();
};

export const KILLS: readonly Fault[] = [
  {
    name: 'kill-operator',
    what: 'operator killed (`kill -9`)',
    seconds: 8,
    expected: {
      through: ['hold', 'stopped'],
      ends: ['stopped'],
      restMs: HOLD_REST_MS,
      message: /^robot: hold → stopped: operator silent/,
      // The writer keeps a line back until its command's motion is seen (docs/recording.md).
      lostMs: 3000,
    },
    async run(rig) {
      kill('operator')(rig);
      await pause(2000);
    },
  },
  {
    name: 'kill-robot-ur3',
    what: 'robot killed (`kill -9`), UR3: its control program sees the silence',
    seconds: 12,
    settings: { arm: 'ur3', ...CALM },
    expected: {
      ends: ['gone'],
      restMs: 1000,
      message: /^ask: robot disconnected/,
    },
    async run(rig) {
      kill('robot')(rig);
      await pause(2000);
      await rig.look();
    },
  },
];
