import type { TeleopError } from '../../core/errors.ts';
import type { ReceivedFrame } from '../../messages/recording.ts';
import { toAnnexB } from './annex-b.ts';

/** One encoded picture: NAL units, each after its length in four bytes. Its bytes belong to the receiver. */
interface EncodedPicture {
  captureNs: number;
  bytes: Uint8Array;
}

/** Pictures leave in the order in which they entered; the first is a key picture. */
export interface PictureEncoder {
  /** False: the encoder is busy, the picture was dropped. */
  encode(jpegs: readonly Uint8Array[], captureNs: number, isKey: boolean): boolean;
  close(): void;
}

export type OpenPictureEncoder = (
  camera: string,
  handlers: { encoded(picture: EncodedPicture): void; failed(error: TeleopError): void },
) => PictureEncoder;

export interface EpisodeVideoHandlers {
  /** H.264 with start codes. In order per camera; each needs all before it up to a key picture. */
  encoded(frame: ReceivedFrame, annexB: Uint8Array): void;
  dropped(): void;
  failed(error: TeleopError): void;
}

/** More than a row may look back. */
const FRAMES_KEPT = 32;

interface Track {
  encoder: PictureEncoder;
  /** Accepted by the encoder, in order of arrival. */
  accepted: ReceivedFrame[];
  inside: Map<number, ReceivedFrame>;
}

/**
 * The pictures of one episode on their way through the encoders. A picture that an encoder did not accept does not
 * exist for the episode, so a row never refers to one that is not in the file.
 */
export class EpisodeVideo {
  readonly #tracks = new Map<string, Track>();
  readonly #handlers: EpisodeVideoHandlers;

  constructor(cameras: readonly string[], open: OpenPictureEncoder, handlers: EpisodeVideoHandlers) {
    this.#handlers = handlers;
    for (const camera of cameras) {
      const inside = new Map<number, ReceivedFrame>();
      const encoder = open(camera, {
        encoded: ({ captureNs, bytes }) => this.#encoded(inside, captureNs, bytes),
        failed: (error) => handlers.failed(error),
      });
      this.#tracks.set(camera, { encoder, accepted: [], inside });
    }
  }

  offer(frame: ReceivedFrame): void {
    const track = this.#tracks.get(frame.camera);
    if (track === undefined || track.accepted.some(({ captureNs }) => captureNs === frame.captureNs)) return;
    track.inside.set(frame.captureNs, frame);
    if (!track.encoder.encode([frame.bytes], frame.captureNs, false)) {
      track.inside.delete(frame.captureNs);
      return this.#handlers.dropped();
    }
    track.accepted.push(frame);
    if (track.accepted.length > FRAMES_KEPT) track.accepted.shift();
  }

  #encoded(inside: Map<number, ReceivedFrame>, captureNs: number, bytes: Uint8Array): void {
    const frame = inside.get(captureNs);
    if (frame === undefined) return;
    inside.delete(captureNs);
    this.#handlers.encoded(frame, toAnnexB(bytes));
  }

  newestAt(camera: string, sampledNs: number): ReceivedFrame | null {
    return this.#tracks.get(camera)?.accepted.findLast(({ arrivedNs }) => arrivedNs <= sampledNs) ?? null;
  }

  /** Whether none of these pictures is still being encoded. */
  hasLeft(pictures: ReadonlyMap<string, ReceivedFrame>): boolean {
    for (const [camera, { captureNs }] of pictures)
      if (this.#tracks.get(camera)?.inside.has(captureNs)) return false;
    return true;
  }

  close(): void {
    for (const { encoder } of this.#tracks.values()) encoder.close();
  }
}
