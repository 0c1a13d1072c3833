import type { Reason } from '../core/counters.ts';
import { type Clock, monotonicClock } from '../core/time/clock.ts';
import type { ReceivedFrame } from '../messages/recording.ts';
import type { ArrivedFrame, FrameReceiver, FrameReceiverConfig } from './channel/frame-receiver.ts';
import { openUdpReceiver } from './channel/udp-receiver.ts';
import { openZmqReceiver } from './channel/zmq-receiver.ts';

/** A capture time on the operator's clock, and its uncertainty. */
export interface ProjectedCapture {
  operatorNs: number;
  uncertaintyNs: number;
}

export interface FrameReceiverOptions {
  /** Converts the camera host's clock to the operator's; null while the offset is unknown. */
  project?: (captureNs: number) => ProjectedCapture | null;
  /** Counts rejected and abandoned frames. */
  remark?: (reason: Reason) => void;
  clock?: Clock;
}

/** Cameras and operator on one machine share the monotonic clock. */
export const sameClock = (captureNs: number): ProjectedCapture => ({
  operatorNs: captureNs,
  uncertaintyNs: 0,
});

/** `offsetNs`: camera host − operator, as estimated by the link's clock synchronization. */
export function projectedBy(
  captureNs: number,
  offsetNs: number,
  uncertaintyNs: number,
): ProjectedCapture | null {
  return Number.isFinite(offsetNs) ? { operatorNs: captureNs - offsetNs, uncertaintyNs } : null;
}

/**
 * Receives frames on this thread's event loop until closed; senders may start later, disappear and reconnect.
 * `onFrame` gets each complete picture once and owns its bytes. For a sender without capture times (a
 * third-party UDP sender), the arrival of the first slice is used, with an uncertainty of NaN.
 */
export async function openFrameReceiver(
  config: FrameReceiverConfig,
  onFrame: (frame: ReceivedFrame) => void,
  options: FrameReceiverOptions = {},
): Promise<FrameReceiver> {
  const { project, remark = () => {}, clock = monotonicClock } = options;
  const take = ({ camera, captureNs, encodedNs, bytes, depth, firstNs }: ArrivedFrame): void => {
    const arrivedNs = clock.nowNs();
    const known = Number.isFinite(captureNs);
    const projected = known ? (project?.(captureNs) ?? null) : null;
    onFrame({
      camera,
      captureNs: known ? captureNs : firstNs,
      ...(encodedNs >= captureNs ? { encodedNs } : {}),
      encoding: 'jpeg',
      bytes,
      ...(depth === undefined ? {} : { depth }),
      captureOperatorNs: projected?.operatorNs ?? (known ? Number.NaN : firstNs),
      uncertaintyNs: projected?.uncertaintyNs ?? Number.NaN,
      arrivedNs,
    });
  };
  return config.wire === 'zmq'
    ? openZmqReceiver(config, clock, take, remark)
    : openUdpReceiver(config, clock, take, remark);
}
