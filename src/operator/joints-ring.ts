import { RecordRing } from '../core/memory/ring.ts';
import { number, oneOf, perJoint, struct } from '../core/memory/struct-layout.ts';

/** Kinds of joint records: a command that moves, one that does not, or a measured state. */
const JOINTS_KINDS = ['command', 'idle', 'state'] as const;
export type JointsKind = (typeof JOINTS_KINDS)[number];

/** Commands use the operator's clock, states the robot's. */
const JOINTS = struct({
  kind: oneOf(JOINTS_KINDS, 'state'),
  ns: number,
  seq: number,
  positionsRad: perJoint,
});

export const jointsRing = (joints: number, records: number): RecordRing =>
  RecordRing.create(JOINTS.size(joints), records);

/** Number of angles in each record of a ring. */
export const jointsCount = (buffer: SharedArrayBuffer): number =>
  RecordRing.attach(buffer).fields - JOINTS.size();

type OnJoints = (kind: JointsKind, ns: number, seq: number, positionsRad: Float64Array) => void;

/** Returns a hot-path function that writes joints into rings. */
export function jointsKeeper(joints: number, ...buffers: SharedArrayBuffer[]): OnJoints {
  const rings = buffers.map((buffer) => RecordRing.attach(buffer));
  const record = JOINTS.create(joints);
  return (kind, ns, seq, positionsRad) => {
    record.kind = kind;
    record.ns = ns;
    record.seq = seq;
    record.positionsRad.set(positionsRad);
    for (const ring of rings) ring.push(record.packed);
  };
}

/** Drains a ring, oldest first; the angles are valid during the call. */
export function jointsReader(buffer: SharedArrayBuffer): (onJoints: OnJoints) => void {
  const ring = RecordRing.attach(buffer);
  const record = JOINTS.create(jointsCount(buffer));
  return (onJoints) => {
    while (ring.shift(record.packed)) onJoints(record.kind, record.ns, record.seq, record.positionsRad);
  };
}
