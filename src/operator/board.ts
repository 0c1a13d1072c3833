import {
  flag,
  number,
  numbers,
  oneOf,
  perJoint,
  type StructOf,
  struct,
} from '../core/memory/struct-layout.ts';
import { HAND_NUMBERS } from '../hand/points.ts';
import type { HandSample } from '../messages/hand-sample.ts';
import { PLAYOUT_QUALITIES } from '../messages/playout-request.ts';
import { ROW_SOURCES } from '../messages/recording.ts';
import { LIMITED_BY, SUPERVISOR_STATES } from '../messages/robot-state.ts';
import { OPERATOR_MODES } from '../messages/telemetry.ts';
import type { LinkClient } from './link-client.ts';

const INPUT_STATUS = ['ok', 'stale', 'none'] as const;
const MAPPING_STATUS = ['ok', 'clamped', 'unreachable', 'bad-input', 'disengaged'] as const;

/** Number of inputs whose reception is on the board. */
export const BOARD_INPUTS = 8;

/** What the operator's control thread publishes every tick. */
export const BOARD = struct({
  operatorNs: number,
  stateReceivedNs: number,
  /** When the robot read its joints, robot clock. */
  stateRobotNs: number,
  offsetNs: number,
  uncertaintyNs: number,
  driftPpm: number,
  /** Index of the active input in the rig; −1: none. */
  input: number,
  inputStatus: oneOf(INPUT_STATUS, 'none'),
  clutch: flag,
  quality: oneOf(PLAYOUT_QUALITIES, null),
  inputRateHz: number,
  inputJitterNs: number,
  robotState: oneOf(SUPERVISOR_STATES, 'disconnected'),
  epoch: number,
  gripper: number,
  mode: oneOf(OPERATOR_MODES, 'hold'),
  mapping: oneOf(MAPPING_STATUS, 'disengaged'),
  filterDelayNs: number,
  driver: oneOf(ROW_SOURCES, 'none'),
  isInterrupted: flag,
  mustOpenClutch: flag,
  disagreementRad: number,
  limitedBy: oneOf(LIMITED_BY, ''),
  /** Into that limit, base frame; NaN where it has no direction. */
  limitTowards: numbers(3),
  clearanceM: number,
  gripperN: number,
  estopNs: number,
  estopConfirmedNs: number,
  handTakenNs: number,
  handPoints: number,
  handIsLeft: flag,
  recordPresses: number,
  commands: number,
  applied: number,
  late: number,
  dropped: number,
  rejected: number,
  lost: number,
  handPositionM: numbers(3),
  handQuatXyzw: numbers(4),
  measuredRad: perJoint,
  targetRad: perJoint,
  externalNm: perJoint,
  commandedRad: perJoint,
  /** Condition of the motors; NaN: not reported. */
  temperatureC: perJoint,
  currentA: perJoint,
  voltageV: perJoint,
  level: perJoint,
  handPointsM: numbers(HAND_NUMBERS),
  /** Reception of each input, in the order of the rig. */
  inputRatesHz: numbers(BOARD_INPUTS),
  inputJittersNs: numbers(BOARD_INPUTS),
  inputSenders: numbers(BOARD_INPUTS),
});

type Board = StructOf<typeof BOARD>;

/** Hot path. */
export function fillHand(out: Board, sample: HandSample): void {
  out.clutch = sample.clutch;
  out.handPositionM.set(sample.positionM);
  out.handQuatXyzw.set(sample.quatXyzw);
  out.handTakenNs = sample.takenNs;
  out.handPoints = sample.points;
  out.handIsLeft = sample.isLeft;
  if (sample.points > 0) out.handPointsM.set(sample.pointsM);
}

/** Hot path. */
export function fillTotals(out: Board, totals: LinkClient['totals']): void {
  out.commands = totals.commands;
  out.applied = totals.applied;
  out.late = totals.late;
  out.dropped = totals.dropped;
  out.rejected = totals.rejected;
  out.lost = totals.lost;
}

/** The board has one text: the cause of the robot's state, the nearest pair, and its playout. */
const boardText = (cause: string, nearest: string, playout = ''): string =>
  nearest === '' && playout === '' ? cause : `${cause}\n${nearest}\n${playout}`;

/** The same, made anew only when one of them changed. */
export class BoardText {
  #text = '';
  #cause = '';
  #nearest = '';
  #playout = '';

  of(cause: string, nearest: string, playout = ''): string {
    if (cause === this.#cause && nearest === this.#nearest && playout === this.#playout) return this.#text;
    this.#cause = cause;
    this.#nearest = nearest;
    this.#playout = playout;
    this.#text = boardText(cause, nearest, playout);
    return this.#text;
  }
}

export const boardWords = (text: string): [cause: string, nearest: string, playout: string] => {
  const [cause = '', nearest = '', playout = ''] = text.split('\n');
  return [cause, nearest, playout];
};
