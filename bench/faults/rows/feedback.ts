import type { Fault } from '../fault.ts';
import { pause, type TrialRig } from '../trial-rig.ts';
import { CALM } from '../trial-settings.ts';

/** Time from powering the joints to the fault; by then the arm follows. */
const AFTER_S = 4;
const FEEDBACK_MS = 200;
const CALM_FEEDBACK_MS = 1000;
const STOP_MS = 300;

const stopped = (timeoutMs: number): Fault['expected'] => ({
  through: ['stopped'],
  ends: ['stopped'],
  restMs: timeoutMs + STOP_MS,
  message: /^robot: \w+ → stopped: ./,
});

const ofSim = (kind: string, what: string, expected: Fault['expected']): Fault => ({
  name: `feedback-${kind}`,
  what,
  seconds: 10,
  settings: {
    robot: [`robot.options.feedbackFault=${kind}`, `robot.options.feedbackFaultAfterS=${AFTER_S}`],
  },
  expected,
  async run(rig: TrialRig) {
    const armed = rig.changes.find(({ to }) => to === 'armed')!;
    rig.faultNs = armed.atNs + AFTER_S * 1e9;
    await pause((rig.faultNs - rig.nowNs()) / 1e6 + 2000);
  },
});

const ofArm = (arm: 'ur3' | 'xarm6', word: string, what: string): Fault => ({
  name: `feedback-${word}-${arm}`,
  what,
  seconds: 11,
  settings: { arm, ...CALM },
  expected: stopped(CALM_FEEDBACK_MS),
  async run(rig) {
    rig.sim!.child.send(word);
    rig.mark();
    await pause(2500);
  },
});

export const FEEDBACK: readonly Fault[] = [
  ofSim('nan', 'joint readings are NaN', stopped(FEEDBACK_MS)),
  ofSim('frozen', 'joint readings frozen, with their stamps', stopped(FEEDBACK_MS)),
  ofSim('stuck', 'joint readings frozen, with fresh stamps: not detected', {
    ends: ['engaged'],
    restMs: null,
    message: null,
  }),
  ofArm('ur3', 'nan', 'UR3 reports NaN for its joints'),
  ofArm('ur3', 'silence', 'UR3 stops reporting its joints'),
  ofArm('xarm6', 'nan', 'xArm6 reports NaN for its joints'),
  ofArm('xarm6', 'silence', 'xArm6 stops reporting its joints'),
];
