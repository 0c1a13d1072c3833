import type { ReceivedFrame } from '../messages/recording.ts';
import type { VideoEvent } from '../messages/video-event.ts';

/** Interval between reported pictures per camera: enough for percentiles, negligible beside the pictures. */
const EVERY_NS = 200e6;
/**
 * The console knows more about a picture than a recorder: while it reports a camera, the recorder is ignored.
 */
const CONSOLE_ACTIVE_NS = 2e9;

/** Selects the pictures to report. */
export class VideoSampler {
  readonly #dueNs = new Map<string, number>();

  due(camera: string, nowNs: number): boolean {
    if (nowNs < (this.#dueNs.get(camera) ?? Number.NEGATIVE_INFINITY)) return false;
    this.#dueNs.set(camera, nowNs + EVERY_NS);
    return true;
  }
}

/** What a receiver knows about a picture. */
export function arrivalEvent({ camera, captureNs, encodedNs, arrivedNs }: ReceivedFrame): VideoEvent {
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

/** Keeps one line per picture in the trace, from one reporter. */
export class VideoGate {
  readonly #consoleNs = new Map<string, number>();
  readonly #take: (event: VideoEvent) => void;

  constructor(take: (event: VideoEvent) => void) {
    this.#take = take;
  }

  fromConsole(event: VideoEvent): void {
    this.#consoleNs.set(event.camera, event.receivedNs);
    this.#take(event);
  }

  fromRecorder(event: VideoEvent): void {
    const receivedNs = this.#consoleNs.get(event.camera) ?? Number.NEGATIVE_INFINITY;
    if (event.receivedNs - receivedNs > CONSOLE_ACTIVE_NS) this.#take(event);
  }
}
