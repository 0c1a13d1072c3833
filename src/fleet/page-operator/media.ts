import { openFrameReceiver } from '../../camera/receiver.ts';
import { PictureStamps } from '../../console/picture-stamps.ts';
import { TeleopError } from '../../core/errors.ts';
import { monotonicClock } from '../../core/time/clock.ts';
import type { ReceivedFrame } from '../../messages/recording.ts';
import type { VideoEvent } from '../../messages/video-event.ts';
import { cameraNames, frameReceiverConfig } from '../../rig/camera-channel.ts';
import type { FleetConfig } from '../../rig/fleet-config.ts';
import type { Rig } from '../../rig/rig.ts';
import { openAudio } from '../audio-source.ts';

export interface MediaHandlers {
  picture(frame: ReceivedFrame): void;
  sound(rtp: Uint8Array): void;
  /** The timing of sampled pictures, for the trace. */
  video(event: VideoEvent): void;
}

/**
 * Pictures and sound for a session. A source that cannot be opened is reported and left out; driving
 * continues.
 */
export function openMedia(
  rig: Rig,
  keys: Uint8Array[],
  config: FleetConfig,
  handlers: MediaHandlers,
): { close(): void } {
  const opened: { close(): void }[] = [];
  let closed = false;
  const keep = (what: string, opening: Promise<{ close(): void }>) =>
    opening.then(
      (source) => (closed ? source.close() : void opened.push(source)),
      (error: unknown) => {
        const text = error instanceof TeleopError ? `${error.message}. ${error.hint}` : String(error);
        console.error(`farhand: fleet: no ${what}: ${text}`);
      },
    );
  const stamps = new PictureStamps(handlers.video, monotonicClock.nowNs);
  const onFrame = (frame: ReceivedFrame) => {
    if (closed) return;
    stamps.onPicture(frame, undefined);
    handlers.picture(frame);
  };
  if (cameraNames(rig).length > 0) void keep('camera views', openPictures(rig, keys, onFrame));
  if (config.audio !== '') void keep('sound', openAudio(config, handlers.sound));
  return {
    close() {
      closed = true;
      for (const source of opened.splice(0)) source.close();
    },
  };
}

const openPictures = async (rig: Rig, keys: Uint8Array[], onFrame: (frame: ReceivedFrame) => void) =>
  openFrameReceiver(frameReceiverConfig(rig, keys), onFrame);
