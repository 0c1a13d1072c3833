import type { EncodedPicture } from '../../camera/video/h264-encoder.ts';
import { VideoStream, type VideoStreamSettings } from '../../camera/video/video-stream.ts';
import { cameraNames } from '../../rig/camera-channel.ts';
import type { Rig } from '../../rig/rig.ts';

/** A video of a rig: one camera, or a stereo pair side by side. */
export interface VideoPlan extends VideoStreamSettings {
  /** The camera's name, or both with a plus sign. */
  name: string;
}

/** The videos for a page; none if the rig sends JPEG only. */
export function videoPlans(rig: Rig): VideoPlan[] {
  const { list, stereo } = rig.cameras;
  if (rig.fleet.video === 'jpeg') return [];
  const single = cameraNames(rig).filter((name) => !(stereo as string[]).includes(name));
  const groups = [...(stereo.length === 2 ? [[...stereo]] : []), ...single.map((name) => [name])];
  return groups.map((cameras) => ({
    name: cameras.join('+'),
    cameras,
    fpsHz: list[cameras[0]!]!.fpsHz,
    mostKbitS: cameras.length * rig.fleet.videoKbitS,
  }));
}

export interface VideoPeer {
  hasVideo(name: string): boolean;
  sendVideo(name: string, units: Uint8Array, captureNs: number): boolean;
}

/** The H.264 videos of a page's session. What a page does not accept, or cannot be encoded, stays JPEG. */
export class PageVideos {
  readonly #streams = new Map<string, VideoStream>();
  readonly #peer: VideoPeer;
  readonly #probe: (t0Ns: number) => void;
  readonly #nowNs: () => number;
  #reported = '';

  constructor(
    plans: readonly VideoPlan[],
    peer: VideoPeer,
    probe: (t0Ns: number) => void,
    nowNs: () => number,
  ) {
    this.#peer = peer;
    this.#probe = probe;
    this.#nowNs = nowNs;
    for (const plan of plans) this.#streams.set(plan.name, this.#open(plan));
  }

  /** False: this picture is to be sent as JPEG. */
  offer(camera: string, jpeg: Uint8Array, captureNs: number): boolean {
    for (const [name, stream] of this.#streams)
      if (stream.settings.cameras.includes(camera))
        return this.#peer.hasVideo(name) && stream.offer(camera, jpeg, captureNs, this.#nowNs());
    return false;
  }

  answered(t0Ns: number, nowNs: number): void {
    for (const { rate } of this.#streams.values()) rate.answered(t0Ns, nowNs);
  }

  requestKey(name: string): void {
    this.#streams.get(name)?.requestKey();
  }

  lost(name: string, share: number): void {
    this.#streams.get(name)?.rate.lost(share, this.#nowNs());
  }

  close(): void {
    for (const stream of this.#streams.values()) stream.close();
  }

  #open(plan: VideoPlan): VideoStream {
    return new VideoStream(plan, {
      send: (picture) => this.#send(plan.name, picture),
      failed: ({ message, hint }) => this.#report(`${message}. ${hint}`),
    });
  }

  #send(name: string, { bytes, captureNs }: EncodedPicture): number | null {
    if (!this.#peer.sendVideo(name, bytes, captureNs)) return null;
    const nowNs = this.#nowNs();
    this.#probe(nowNs);
    return nowNs;
  }

  /** Prints each new problem once. */
  #report(problem: string): void {
    if (problem === this.#reported) return;
    this.#reported = problem;
    console.error(`farhand: fleet: pictures are sent as JPEG: ${problem}`);
  }
}
