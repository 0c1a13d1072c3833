import { HAND_NUMBERS } from '../../core/hand-points.ts';
import type { SupervisorState } from '../../core/messages.ts';
import { SUPERVISOR_STATES } from '../../core/messages.ts';

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
  'handTakenNs',
  'handPoints',
  'handIsLeft',
  'commands',
  'applied',
  'late',
  'dropped',
  'rejected',
  'lost',
] as const;

export type BoardField = (typeof BOARD_FIELDS)[number];
const INDEX = Object.fromEntries(BOARD_FIELDS.map((name, i) => [name, i])) as Record<BoardField, number>;

export const boardSize = (joints: number): number => boardPoints(joints) + HAND_NUMBERS;
export const boardIndex = (field: BoardField): number => INDEX[field];
/** Start of the measured, target and commanded joint angles. */
export const boardJoints = (group: 0 | 1 | 2, joints: number): number => BOARD_FIELDS.length + group * joints;

/** Start of the points of a tracked hand. */
export const boardPoints = (joints: number): number => BOARD_FIELDS.length + 3 * joints;

/** What the mapper said, by its place here. */
export const MAPPING_STATUS = ['ok', 'clamped', 'unreachable', 'bad-input', 'disengaged'] as const;

export const stateCode = (state: SupervisorState): number => SUPERVISOR_STATES.indexOf(state);
export const stateOfCode = (code: number): SupervisorState => SUPERVISOR_STATES[code] ?? 'disconnected';
