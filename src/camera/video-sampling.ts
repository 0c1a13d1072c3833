import type { ReceivedFrame } from '../messages/recording.ts';
import type { VideoNews } from '../messages/video-news.ts';

/** Of each camera some pictures a second are told about: enough for percentiles, nothing beside the pictures. */
const EVERY_NS = 200e6;
/** The console knows more of a picture than a recorder: while it speaks of a camera, it alone is heard. */
const CONSOLE_SPEAKS_NS = 2e9;

/** Which pictures are told about. */
export class VideoSampler {
  readonly #dueNs = new Map<string, number>();

  due(camera: string, nowNs: number): boolean {
    if (nowNs < (this.#dueNs.get(camera) ?? Number.NEGATIVE_INFINITY)) return false;
    this.#dueNs.set(camera, nowNs + EVERY_NS);
    return true;
  }
}

/** What a receiver knows of a picture. */
export function arrivalNews({ camera, captureNs, encodedNs, arrivedNs }: ReceivedFrame): VideoNews {
  return {
    kind: 'video',
    camera,
    captureNs,
    encodedNs: encodedNs ?? null,
    receivedNs: arrivedNs,
    decodedNs: null,
    displayedNs: null,
    pageUncertaintyNs: null,
  };
}

/** One line per picture in the trace, whoever saw it. */
export class VideoGate {
  readonly #consoleNs = new Map<string, number>();
  readonly #take: (news: VideoNews) => void;

  constructor(take: (news: VideoNews) => void) {
    this.#take = take;
  }

  fromConsole(news: VideoNews): void {
    this.#consoleNs.set(news.camera, news.receivedNs);
    this.#take(news);
  }

  fromRecorder(news: VideoNews): void {
    const heardNs = this.#consoleNs.get(news.camera) ?? Number.NEGATIVE_INFINITY;
    if (news.receivedNs - heardNs > CONSOLE_SPEAKS_NS) this.#take(news);
  }
}
