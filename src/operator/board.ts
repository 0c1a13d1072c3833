import { HAND_NUMBERS } from '../hand/points.ts';
import type { SupervisorState } from '../messages/robot-state.ts';
import { LIMITED_BY, type LimitedBy, SUPERVISOR_STATES } from '../messages/robot-state.ts';

/** Numbers on the operator's snapshot board, in order; joint arrays and the hand's points follow. */
export const BOARD_FIELDS = [
  'operatorNs',
  'stateReceivedNs',
  'offsetNs',
  'uncertaintyNs',
  'driftPpm',
  'input',
  'inputStatus',
  'clutch',
  'quality',
  'inputRateHz',
  'inputJitterNs',
  'handX',
  'handY',
  'handZ',
  'handQx',
  'handQy',
  'handQz',
  'handQw',
  'robotState',
  'epoch',
  'gripper',
  'mode',
  'mapping',
  'filterDelayNs',
  'limitedBy',
  'clearanceM',
  'estopNs',
  'handTakenNs',
  'handPoints',
  'handIsLeft',
  'recordPresses',
  'commands',
  'applied',
  'late',
  'dropped',
  'rejected',
  'lost',
] as const;

export type BoardField = (typeof BOARD_FIELDS)[number];
const INDEX = Object.fromEntries(BOARD_FIELDS.map((name, i) => [name, i])) as Record<BoardField, number>;

/** Inputs whose senders are told of, and the numbers of each: rate, jitter, sender. */
export const BOARD_INPUTS = 8;
export const INPUT_NUMBERS = 3;

export const boardSize = (joints: number): number => boardInputs(joints) + BOARD_INPUTS * INPUT_NUMBERS;
export const boardIndex = (field: BoardField): number => INDEX[field];
/** Start of the measured, target and commanded joint angles. */
export const boardJoints = (group: 0 | 1 | 2, joints: number): number => BOARD_FIELDS.length + group * joints;

/** Start of the points of a tracked hand. */
export const boardPoints = (joints: number): number => BOARD_FIELDS.length + 3 * joints;

/** Start of what is heard of each input, in the order of the rig. */
export const boardInputs = (joints: number): number => boardPoints(joints) + HAND_NUMBERS;

/** What the mapper said, by its place here. */
export const MAPPING_STATUS = ['ok', 'clamped', 'unreachable', 'bad-input', 'disengaged'] as const;

export const stateCode = (state: SupervisorState): number => SUPERVISOR_STATES.indexOf(state);
export const stateOfCode = (code: number): SupervisorState => SUPERVISOR_STATES[code] ?? 'disconnected';
export const limitCode = (by: LimitedBy): number => LIMITED_BY.indexOf(by);
export const limitOfCode = (code: number): LimitedBy => LIMITED_BY[code] ?? '';

/** The board has one text: why the robot is in its state, what is nearest to what, and its playout. */
export const boardText = (cause: string, nearest: string, playout = ''): string =>
  nearest === '' && playout === '' ? cause : `${cause}\n${nearest}\n${playout}`;
export const boardWords = (text: string): [cause: string, nearest: string, playout: string] => {
  const [cause = '', nearest = '', playout = ''] = text.split('\n');
  return [cause, nearest, playout];
};
