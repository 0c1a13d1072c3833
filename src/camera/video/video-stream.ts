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

type OpenEncoder = (settings: EncoderSettings, handlers: EncoderHandlers) => H264Encoder;

/** How long to wait before starting a failed encoder again. */
const AGAIN_NS = 5e9;
/** A picture of the other eye older than this does not make a pair. */
const PAIR_NS = 100e6;
const KEY_EVERY_NS = 200e6;

/**
 * The video of one camera, or of a stereo pair side by side, to one receiver. ffmpeg cannot change its rate,
 * so another encoder starts with the new one and takes over with its first picture; none is missing between.
 */
export class VideoStream {
  readonly settings: VideoStreamSettings;
  readonly rate: VideoRate;
  readonly counts = { sent: 0, skipped: 0, bytes: 0, keys: 0 };
  readonly #route: VideoRoute;
  readonly #open: OpenEncoder;
  readonly #newest = new Map<string, { jpeg: Uint8Array; captureNs: number }>();
  #current: H264Encoder | null = null;
  #next: H264Encoder | null = null;
  #nextNeedsKey = false;
  #wantsKey = false;
  #keyNs = Number.NEGATIVE_INFINITY;
  #failedNs = Number.NEGATIVE_INFINITY;
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
    const jpegs = views.map((view) => view!.jpeg);
    this.#encode(jpegs, views[0]!.captureNs, nowNs);
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
  }

  #encode(jpegs: readonly Uint8Array[], captureNs: number, nowNs: number): void {
    if (!this.rate.mayEncode(nowNs)) return void this.counts.skipped++;
    this.#current ??= this.#start();
    const { kbitS } = this.rate;
    if (this.#next === null && this.#current.settings.kbitS !== kbitS) this.#next = this.#start();
    const isKey = this.#wantsKey && nowNs - this.#keyNs > KEY_EVERY_NS;
    if (!this.#current.encode(jpegs, captureNs, isKey)) this.counts.skipped++;
    else if (isKey) {
      this.#wantsKey = false;
      this.#keyNs = nowNs;
    }
    if (this.#next?.encode(jpegs, captureNs, this.#nextNeedsKey)) this.#nextNeedsKey = false;
  }

  #start(): H264Encoder {
    const { cameras, fpsHz } = this.settings;
    const settings = { views: cameras.length, fpsHz, kbitS: this.rate.kbitS };
    const encoder = this.#open(settings, {
      encoded: (picture) => this.#encoded(encoder, picture),
      failed: (error) => this.#fail(error),
    });
    return encoder;
  }

  #encoded(from: H264Encoder, picture: EncodedPicture): void {
    if (from === this.#next) {
      // It must start with a key picture that is newer than what was sent.
      this.#nextNeedsKey = !picture.isKey || picture.captureNs <= this.#lastNs;
      if (this.#nextNeedsKey) return;
      this.#current?.close();
      this.#current = from;
      this.#next = null;
    }
    if (from !== this.#current || picture.captureNs <= this.#lastNs) return;
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
    if (!this.#closed) this.#route.failed(error);
  }
}
