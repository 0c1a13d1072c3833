import { FrameCache } from '../camera/cache.ts';
import { openFrameReceiver, projectedBy } from '../camera/receiver.ts';
import { openTelemetryFeed } from '../desk/telemetry-feed.ts';
import { cameraNames, frameReceiverConfig } from '../rig/camera-channel.ts';
import type { Rig } from '../rig/rig.ts';
import type { FrameSource } from './observation.ts';

export interface PolicyFrames {
  cameras: string[];
  frames: FrameSource;
  close(): void;
}

/** The cameras of a rig for a policy; capture times on the operator's clock, by its own offset. */
export async function openPolicyFrames(rig: Rig): Promise<PolicyFrames> {
  const frames = new FrameCache();
  const cameras = cameraNames(rig);
  if (cameras.length === 0) return { cameras, frames, close: () => {} };
  // First, before anything is open that needs closing: a key may be missing.
  const where = frameReceiverConfig(rig);
  let [offsetNs, uncertaintyNs] = [Number.NaN, Number.NaN];
  const feed = openTelemetryFeed(rig, ({ link }) => {
    offsetNs = (link.offsetMs ?? Number.NaN) * 1e6;
    uncertaintyNs = (link.uncertaintyMs ?? Number.NaN) * 1e6;
  });
  const receiver = await openFrameReceiver(where, (frame) => frames.put(frame), {
    project: (captureNs) => projectedBy(captureNs, offsetNs, uncertaintyNs),
  }).catch((error: unknown) => {
    feed.close();
    throw error;
  });
  return {
    cameras,
    frames,
    close() {
      receiver.close();
      feed.close();
    },
  };
}
