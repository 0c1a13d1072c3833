import { RecordRing } from '../core/memory/ring.ts';

/** What a record of joints tells: a command that moves, one that does not, or a measured state. */
const JOINTS_KINDS = ['command', 'idle', 'state'] as const;
export type JointsKind = (typeof JOINTS_KINDS)[number];

/** kind, instant, sequence number; the angles follow. Commands are in the operator's clock, states in the robot's. */
const HEAD = 3;

export const jointsRing = (joints: number, records: number): RecordRing =>
  RecordRing.create(HEAD + joints, records);

/** How many angles the records of a ring have. */
export const jointsCount = (buffer: SharedArrayBuffer): number => RecordRing.attach(buffer).fields - HEAD;

type OnJoints = (kind: JointsKind, ns: number, seq: number, positionsRad: Float64Array) => void;

/** Puts joints into rings. The function is for the hot path. */
export function jointsKeeper(joints: number, ...buffers: SharedArrayBuffer[]): OnJoints {
  const rings = buffers.map((buffer) => RecordRing.attach(buffer));
  const packed = new Float64Array(HEAD + joints);
  return (kind, ns, seq, positionsRad) => {
    packed[0] = JOINTS_KINDS.indexOf(kind);
    packed[1] = ns;
    packed[2] = seq;
    for (let i = 0; i < joints; i++) packed[HEAD + i] = positionsRad[i]!;
    for (const ring of rings) ring.push(packed);
  };
}

/** Hands out what is in a ring, oldest first; the angles are valid during the call. */
export function jointsReader(buffer: SharedArrayBuffer): (onJoints: OnJoints) => void {
  const ring = RecordRing.attach(buffer);
  const packed = new Float64Array(ring.fields);
  const anglesRad = packed.subarray(HEAD);
  return (onJoints) => {
    while (ring.shift(packed)) onJoints(JOINTS_KINDS[packed[0]!]!, packed[1]!, packed[2]!, anglesRad);
  };
}
