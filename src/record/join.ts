import type { EpisodeRow, ReceivedFrame, RowFrame } from '../messages/recording.ts';
import type { RingRow } from '../messages/ring-row.ts';

/** The newest frame of a camera that had arrived at an instant, operator clock; null without one. */
export type NewestAt = (camera: string, sampledNs: number) => ReceivedFrame | null;

export interface JoinLimits {
  /** Older frames are kept and flagged. */
  staleNs: number;
  /** Older frames count as missing. */
  missingNs: number;
}

/** What belongs to one instant; `missing` names the first camera without a frame, and then there is no row. */
export interface Joined {
  missing: string | null;
  isStale: boolean;
  frames: Record<string, RowFrame>;
  pictures: Map<string, ReceivedFrame>;
}

/** How old a frame was at an instant. Before the first clock offset its arrival is the best that is known. */
const ageNsAt = (frame: ReceivedFrame, sampledNs: number): number =>
  sampledNs - (Number.isFinite(frame.captureOperatorNs) ? frame.captureOperatorNs : frame.arrivedNs);

/** One frame per camera, none of which came after the instant. */
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

/** A row of the episode. `index` and `firstNs` are the episode's. */
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
    commandRad: Array.from(ring.commandRad),
    commandGripper: finiteOr0(ring.commandGripper),
    stateRad: Array.from(ring.stateRad),
    stateGripper: finiteOr0(ring.stateGripper),
    supervisor: ring.supervisor,
    limitedBy: ring.limitedBy,
    oneWayNs: known(ring.oneWayNs),
    uncertaintyNs: known(ring.uncertaintyNs),
    playoutDelayNs: known(ring.playoutDelayNs),
    frames,
  };
}

/** A robot without a gripper tells none. */
const finiteOr0 = (value: number): number => (Number.isFinite(value) ? value : 0);
const known = (value: number): number | null => (Number.isFinite(value) ? value : null);
