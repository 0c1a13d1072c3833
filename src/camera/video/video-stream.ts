import type { TeleopError } from '../../core/errors.ts';
import {
  type EncodedPicture,
  type EncoderHandlers,
  type EncoderSettings,
  H264Encoder,
} from './h264-encoder.ts';
import { VideoRate } from './video-rate.ts';

export interface VideoStreamSettings {
  /** Cameras of one picture, from left to right: one, or a stereo pair. */
  cameras: readonly string[];
  fpsHz: number;
  mostKbitS: number;
}

export interface VideoRoute {
  /** Sends it, and a probe behind it. When the probe was sent; null: nothing was sent. */
  send(picture: EncodedPicture): number | null;
  /** Encoding failed and is tried again later; until then nothing is sent. */
  failed(error: TeleopError): void;
}

/** One JPEG per view. */
interface Picture {
  jpegs: readonly Uint8Array[];
  captureNs: number;
}

type OpenEncoder = (settings: EncoderSettings, handlers: EncoderHandlers) => H264Encoder;

/** How long to wait before starting a failed encoder again. */
const AGAIN_NS = 5e9;
/** A picture of the other eye older than this does not make a pair. */
const PAIR_NS = 100e6;
const KEY_EVERY_NS = 200e6;
/** A picture that waits inside the encoder only gets older, so the newest waits outside; not longer than this. */
const BUSY_NS = 500e6;
/** Another encoder costs the start of a process: not more often than this. */
const RESTART_NS = 1.5e9;

/**
 * The video of one camera, or of a stereo pair side by side, to one receiver. ffmpeg cannot change its rate,
 * so another encoder starts with the new one, encodes one picture for itself, and takes over with a key picture
 * once the old one has nothing inside; none is missing between.
 */
export class VideoStream {
  readonly settings: VideoStreamSettings;
  readonly rate: VideoRate;
  readonly counts = { sent: 0, skipped: 0, bytes: 0, keys: 0 };
  readonly #route: VideoRoute;
  readonly #open: OpenEncoder;
  readonly #newest = new Map<string, { jpeg: Uint8Array; captureNs: number }>();
  /** The newest picture, while the encoder has another one. */
  #waiting: Picture | null = null;
  #current: H264Encoder | null = null;
  #next: H264Encoder | null = null;
  #isNextReady = false;
  #wantsKey = false;
  #keyNs = Number.NEGATIVE_INFINITY;
  #failedNs = Number.NEGATIVE_INFINITY;
  #givenNs = Number.NEGATIVE_INFINITY;
  #startedNs = Number.NEGATIVE_INFINITY;
  #lastNs = Number.NEGATIVE_INFINITY;
  #nowNs = 0;
  #closed = false;

  constructor(
    settings: VideoStreamSettings,
    route: VideoRoute,
    open: OpenEncoder = (...args) => new H264Encoder(...args),
  ) {
    this.settings = settings;
    this.#route = route;
    this.#open = open;
    this.rate = new VideoRate(settings.mostKbitS);
  }

  /** Takes a picture of one of its cameras. False: it does not encode now. */
  offer(camera: string, jpeg: Uint8Array, captureNs: number, nowNs: number): boolean {
    const { cameras } = this.settings;
    if (this.#closed || nowNs - this.#failedNs < AGAIN_NS) return false;
    this.#nowNs = nowNs;
    this.#newest.set(camera, { jpeg, captureNs });
    const views = cameras.map((name) => this.#newest.get(name));
    const oldestNs = captureNs - PAIR_NS;
    // The right eye's picture completes a pair; if it is missing, the left one waits.
    if (camera !== cameras.at(-1) || views.some((view) => view === undefined || view.captureNs < oldestNs))
      return true;
    const picture = { jpegs: views.map((view) => view!.jpeg), captureNs: views[0]!.captureNs };
    if (this.rate.mayEncode(nowNs)) this.#encode(picture, nowNs);
    else this.counts.skipped++;
    return true;
  }

  /** The receiver lost the picture. */
  requestKey(): void {
    this.#wantsKey = true;
  }

  close(): void {
    this.#closed = true;
    this.#current?.close();
    this.#next?.close();
    this.#newest.clear();
    this.#waiting = null;
  }

  #encode(picture: Picture, nowNs: number): void {
    const { jpegs, captureNs } = picture;
    this.#current ??= this.#start();
    if (this.#current.inside > 0 && nowNs - this.#givenNs < BUSY_NS) {
      if (this.#waiting !== null) this.counts.skipped++;
      this.#waiting = picture;
      return;
    }
    this.#waiting = null;
    const isNew = this.#changeRate(picture, nowNs);
    const isKey = isNew || (this.#wantsKey && nowNs - this.#keyNs > KEY_EVERY_NS);
    if (!this.#current.encode(jpegs, captureNs, isKey)) return void this.counts.skipped++;
    this.#givenNs = nowNs;
    if (!isKey) return;
    this.#wantsKey = false;
    this.#keyNs = nowNs;
  }

  /** Starts the encoder with the present rate, or lets it take over: then true. */
  #changeRate({ jpegs, captureNs }: Picture, nowNs: number): boolean {
    const isOther = this.#current!.settings.kbitS !== this.rate.kbitS;
    if (this.#next === null && isOther && nowNs - this.#startedNs > RESTART_NS) {
      this.#next = this.#start();
      this.#isNextReady = false;
      this.#next.encode(jpegs, captureNs, true);
    }
    if (this.#next === null || !this.#isNextReady) return false;
    this.#current!.close();
    this.#current = this.#next;
    this.#next = null;
    return true;
  }

  #start(): H264Encoder {
    const { cameras, fpsHz } = this.settings;
    this.#startedNs = this.#nowNs;
    const settings = { views: cameras.length, fpsHz, kbitS: this.rate.kbitS };
    const encoder = this.#open(settings, {
      encoded: (picture) => this.#encoded(encoder, picture),
      failed: (error) => this.#fail(error),
    });
    return encoder;
  }

  #encoded(from: H264Encoder, picture: EncodedPicture): void {
    // Its first picture only shows that it works.
    if (from === this.#next) this.#isNextReady = true;
    if (from !== this.#current) return;
    if (picture.captureNs > this.#lastNs) this.#send(picture);
    if (this.#waiting !== null) this.#encode(this.#waiting, this.#nowNs);
  }

  #send(picture: EncodedPicture): void {
    this.#lastNs = picture.captureNs;
    const probedNs = this.#route.send(picture);
    if (probedNs === null) return;
    this.rate.sent(probedNs);
    this.counts.sent++;
    this.counts.bytes += picture.bytes.length;
    if (picture.isKey) this.counts.keys++;
  }

  #fail(error: TeleopError): void {
    this.#failedNs = this.#nowNs;
    for (const encoder of [this.#current, this.#next]) encoder?.close();
    this.#current = this.#next = null;
    this.#waiting = null;
    if (!this.#closed) this.#route.failed(error);
  }
}
