import type { Reason } from '../../core/counters.ts';
import type { JointCommand } from '../../core/messages.ts';
import {
  anglesFromJson,
  anglesToJson,
  countOf,
  frameBody,
  numberOf,
  stampFromJson,
  stampToJson,
  writeFrame,
} from './frame.ts';

/** Operator → robot, command socket. `last` is reserved for redundancy: the K commands before this one. */
export function encodeCommand(command: JointCommand, out: Uint8Array): number {
  const body = {
    session: command.session,
    seq: command.seq,
    epoch: command.epoch,
    engagement: command.engagement,
    tracking: command.tracking,
    state_ns: stampToJson(command.stateOperatorNs),
    send_robot_ns: stampToJson(command.stateRobotNs),
    sync: command.syncEpoch,
    q: anglesToJson(command.positionsRad),
    gripper: Math.round(command.gripper * 1e4) / 1e4,
    last: [],
  };
  return writeFrame('command', body, out);
}

/** Fills `out` (whose `positionsRad` sets the joint count) or returns why not; on a reason `out` is unspecified. */
export function decodeCommand(bytes: Uint8Array, length: number, out: JointCommand): Reason | null {
  const body = frameBody(bytes, length);
  if (body === null) return 'bad-json';
  out.session = countOf(body['session']);
  out.seq = countOf(body['seq']);
  out.epoch = countOf(body['epoch']);
  out.engagement = countOf(body['engagement']);
  out.stateOperatorNs = numberOf(body['state_ns']);
  out.stateRobotNs = stampFromJson(body['send_robot_ns']);
  out.syncEpoch = countOf(body['sync']);
  out.gripper = numberOf(body['gripper']);
  // One sum is NaN when any part is.
  if (Number.isNaN(out.session + out.seq + out.epoch + out.engagement + out.syncEpoch + out.stateOperatorNs))
    return 'malformed';
  if (typeof body['tracking'] !== 'boolean' || !Array.isArray(body['last'])) return 'malformed';
  // Only null says "not known": a stamp that is missing or no number must not switch off the checks of its age.
  if (body['send_robot_ns'] !== null && Number.isNaN(out.stateRobotNs)) return 'malformed';
  out.tracking = body['tracking'];
  const angles = anglesFromJson(body['q'], out.positionsRad);
  if (angles !== null) return angles;
  if (Number.isNaN(out.gripper)) return 'non-finite';
  if (out.gripper < 0 || out.gripper > 1) return 'bad-range';
  return null;
}

export function emptyCommand(joints: number): JointCommand {
  return {
    session: 0,
    seq: 0,
    engagement: 0,
    epoch: 0,
    tracking: false,
    stateOperatorNs: 0,
    stateRobotNs: Number.NaN,
    syncEpoch: 0,
    positionsRad: new Float64Array(joints),
    gripper: 0,
  };
}

export function copyCommand(from: JointCommand, to: JointCommand): void {
  to.session = from.session;
  to.seq = from.seq;
  to.engagement = from.engagement;
  to.epoch = from.epoch;
  to.tracking = from.tracking;
  to.stateOperatorNs = from.stateOperatorNs;
  to.stateRobotNs = from.stateRobotNs;
  to.syncEpoch = from.syncEpoch;
  to.positionsRad.set(from.positionsRad);
  to.gripper = from.gripper;
}
