import type { Reason } from '../core/counters.ts';
import { type Clock, monotonicClock } from '../core/time/clock.ts';
import type { ReceivedFrame } from '../messages/recording.ts';
import type { ArrivedFrame, FrameReceiver, FrameReceiverConfig } from './channel/frame-receiver.ts';
import { openUdpReceiver } from './channel/udp-receiver.ts';
import { openZmqReceiver } from './channel/zmq-receiver.ts';

/** A capture on the operator's clock, and how far that may be off. */
export interface ProjectedCapture {
  operatorNs: number;
  uncertaintyNs: number;
}

export interface FrameReceiverOptions {
  /** From the clock of the cameras' host to the operator's; null while the offset is not known. */
  project?: (captureNs: number) => ProjectedCapture | null;
  /** Counts what was refused or given up. */
  remark?: (reason: Reason) => void;
  clock?: Clock;
}

/** Cameras and operator on one machine share the monotonic clock. */
export const sameClock = (captureNs: number): ProjectedCapture => ({
  operatorNs: captureNs,
  uncertaintyNs: 0,
});

/** `offsetNs`: camera host − operator, as the link's clock synchronization estimates it. */
export function projectedBy(
  captureNs: number,
  offsetNs: number,
  uncertaintyNs: number,
): ProjectedCapture | null {
  return Number.isFinite(offsetNs) ? { operatorNs: captureNs - offsetNs, uncertaintyNs } : null;
}

/**
 * Receives frames on this thread's event loop until closed; they may begin at any time later, and go away and come
 * back. `onFrame` has each whole picture once, and owns its bytes. A sender that tells no capture time (a foreign one,
 * over UDP) is given the arrival of the first slice, with an uncertainty of NaN.
 */
export async function openFrameReceiver(
  config: FrameReceiverConfig,
  onFrame: (frame: ReceivedFrame) => void,
  options: FrameReceiverOptions = {},
): Promise<FrameReceiver> {
  const { project, remark = () => {}, clock = monotonicClock } = options;
  const take = ({ camera, captureNs, encodedNs, bytes, firstNs }: ArrivedFrame): void => {
    const arrivedNs = clock.nowNs();
    const known = Number.isFinite(captureNs);
    const projected = known ? (project?.(captureNs) ?? null) : null;
    onFrame({
      camera,
      captureNs: known ? captureNs : firstNs,
      ...(encodedNs >= captureNs ? { encodedNs } : {}),
      encoding: 'jpeg',
      bytes,
      captureOperatorNs: projected?.operatorNs ?? (known ? Number.NaN : firstNs),
      uncertaintyNs: projected?.uncertaintyNs ?? Number.NaN,
      arrivedNs,
    });
  };
  return config.wire === 'zmq'
    ? openZmqReceiver(config, clock, take, remark)
    : openUdpReceiver(config, clock, take, remark);
}
