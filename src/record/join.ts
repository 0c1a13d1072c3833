import type { EpisodeRow, ReceivedFrame, RowFrame } from '../messages/recording.ts';
import type { RingRow } from '../messages/ring-row.ts';

/** The newest frame of a camera that had arrived by a given time (operator clock); null if none. */
export type NewestAt = (camera: string, sampledNs: number) => ReceivedFrame | null;

export interface JoinLimits {
  /** Older frames are kept and flagged. */
  staleNs: number;
  /** Older frames count as missing. */
  missingNs: number;
}

/** The frames of one row; `missing` names the first camera without a frame, in which case there is no row. */
export interface Joined {
  missing: string | null;
  isStale: boolean;
  frames: Record<string, RowFrame>;
  pictures: Map<string, ReceivedFrame>;
}

/** Age of a frame at a given time. Until the first clock offset, its arrival is the best estimate. */
const ageNsAt = (frame: ReceivedFrame, sampledNs: number): number =>
  sampledNs - (Number.isFinite(frame.captureOperatorNs) ? frame.captureOperatorNs : frame.arrivedNs);

/** One frame per camera, none of which arrived after `sampledNs`. */
export function joinFrames(
  sampledNs: number,
  cameras: readonly string[],
  newestAt: NewestAt,
  limits: JoinLimits,
): Joined {
  const joined: Joined = { missing: null, isStale: false, frames: {}, pictures: new Map() };
  for (const camera of cameras) {
    const frame = newestAt(camera, sampledNs);
    const ageNs = frame === null ? Number.NaN : ageNsAt(frame, sampledNs);
    if (frame === null || frame.arrivedNs > sampledNs || !(ageNs <= limits.missingNs)) {
      joined.missing = camera;
      return joined;
    }
    const stale = ageNs > limits.staleNs;
    joined.isStale ||= stale;
    joined.frames[camera] = { captureNs: frame.captureNs, ageNs, stale };
    joined.pictures.set(camera, frame);
  }
  return joined;
}

/** Builds a row of the episode; `index` and `firstNs` refer to the episode. */
export function rowFrom(
  ring: RingRow,
  frames: Record<string, RowFrame>,
  index: number,
  firstNs: number,
): EpisodeRow {
  return {
    index,
    timeNs: ring.sampledNs - firstNs,
    seq: ring.seq,
    engaged: ring.engaged,
    source: ring.source,
    ...(ring.intervention ? { intervention: true } : {}),
    ...(Number.isFinite(ring.disagreementRad) ? { disagreementRad: ring.disagreementRad } : {}),
    commandRad: Array.from(ring.commandRad),
    commandGripper: finiteOr0(ring.commandGripper),
    stateRad: Array.from(ring.stateRad),
    stateGripper: finiteOr0(ring.stateGripper),
    ...(Number.isFinite(ring.externalNm[0])
      ? { effort: [...ring.externalNm, finiteOr0(ring.gripperN)] }
      : {}),
    ...(ring.stateRadS.every(Number.isFinite) ? { velocityRadS: Array.from(ring.stateRadS) } : {}),
    ...(ring.effortNm.every(Number.isFinite) ? { torqueNm: Array.from(ring.effortNm) } : {}),
    supervisor: ring.supervisor,
    limitedBy: ring.limitedBy,
    oneWayNs: known(ring.oneWayNs),
    uncertaintyNs: known(ring.uncertaintyNs),
    playoutDelayNs: known(ring.playoutDelayNs),
    frames,
  };
}

/** A robot without a gripper reports NaN. */
const finiteOr0 = (value: number): number => (Number.isFinite(value) ? value : 0);
const known = (value: number): number | null => (Number.isFinite(value) ? value : null);
