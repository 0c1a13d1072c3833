import { DRIVER_FLAG, type PiperFeedback } from './feedback.ts';
import { CAN_CONTROL, PIPER_JOINTS } from './frames.ts';

/** Byte 1 of the status frame; 0 is normal. */
const ARM_STATUS: readonly string[] = [
  '',
  'the arm is in emergency stop',
  'the arm found no inverse-kinematics solution for its target pose',
  'the arm is at a singularity',
  'the target exceeds the arm’s angle limits',
  'the arm lost communication with a joint',
  'a joint brake is not released',
  'the arm detected a collision',
  'the arm was dragged too fast in teach mode',
  'a joint is in an abnormal state',
  'the arm reports an abnormal state',
  'the arm is recording a teach trajectory',
  'the arm is replaying a teach trajectory',
  'the arm has paused a teach trajectory',
  'the main controller is overheated',
  'the arm reports over-temperature',
];

const CONTROL_MODES = [
  'standby',
  'CAN',
  'teach',
  'Ethernet',
  'Wi-Fi',
  'remote',
  'linked teach',
  'offline trajectory',
];

const DRIVER_FAULTS: readonly (readonly [bit: number, text: string])[] = [
  [DRIVER_FLAG.driverError, 'reports a driver error'],
  [DRIVER_FLAG.collision, 'detected a collision'],
  [DRIVER_FLAG.stalled, 'is stalled'],
  [DRIVER_FLAG.overcurrent, 'reports overcurrent'],
  [DRIVER_FLAG.undervoltage, 'reports undervoltage'],
  [DRIVER_FLAG.motorHot, 'has an overheated motor'],
  [DRIVER_FLAG.driverHot, 'has an overheated driver'],
];

const ANY_DRIVER_FAULT = DRIVER_FAULTS.reduce((bits, [bit]) => bits | bit, 0);

/** No solution, singularity, over the limit: these concern one target and clear with the next valid one. */
export const isTargetStatus = (armStatus: number): boolean => armStatus >= 2 && armStatus <= 4;

/** The fault in the status frame; empty if none. */
export function statusFault({ armStatus, limitBits, commBits }: PiperFeedback): string {
  if (armStatus === 0 && commBits === 0) return '';
  const text = ARM_STATUS[armStatus] || (commBits ? ARM_STATUS[5]! : `the arm reports status ${armStatus}`);
  const joints = armStatus === 4 ? limitBits : commBits;
  return joints === 0 ? text : `${text} (joint ${jointList(joints)})`;
}

/** The fault of a joint driver. `powered`: all should be enabled. */
export function driverFault({ driverFlags }: PiperFeedback, powered: boolean): string {
  for (let i = 0; i < PIPER_JOINTS; i++) {
    const flags = driverFlags[i]!;
    if ((flags & ANY_DRIVER_FAULT) !== 0) {
      const [, text] = DRIVER_FAULTS.find(([bit]) => (flags & bit) !== 0)!;
      return `joint ${i + 1} ${text}`;
    }
    if (powered && (flags & DRIVER_FLAG.enabled) === 0) return `joint ${i + 1} lost its power`;
  }
  return '';
}

export function controlFault({ controlMode }: PiperFeedback): string {
  if (controlMode === CAN_CONTROL) return '';
  return `the arm left CAN control for ${CONTROL_MODES[controlMode] ?? `mode ${controlMode}`}`;
}

function jointList(bits: number): string {
  const joints: number[] = [];
  for (let i = 0; i < PIPER_JOINTS; i++) if ((bits & (1 << i)) !== 0) joints.push(i + 1);
  return joints.join(', ');
}
