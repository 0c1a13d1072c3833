import { z } from 'zod';
import { arrivalEvent, VideoSampler } from '../camera/video-sampling.ts';
import { parseJson } from '../core/parse-json.ts';
import type { ReceivedFrame } from '../messages/recording.ts';
import type { VideoAnswer, VideoAsk, VideoEvent } from '../messages/video-event.ts';
import { ClockSync } from '../wire/clock-sync.ts';

/** Without an answer by then the picture counts as never shown. */
const ANSWER_NS = 1e9;
const MAX_ANSWER_BYTES = 1024;
const answerSchema: z.ZodType<VideoAnswer, unknown> = z
  .strictObject({
    ...{ kind: z.literal('stamped'), id: z.int(), askedMs: z.number(), decodedMs: z.number() },
    ...{ displayedMs: z.number().nullable(), sentMs: z.number() },
  })
  .refine(({ askedMs, decodedMs, displayedMs, sentMs }) => {
    const shownMs = displayedMs ?? decodedMs;
    return askedMs <= decodedMs && decodedMs <= shownMs && shownMs <= sentMs;
  });

/** A page that shows a camera: its socket. */
export interface Viewer {
  send(text: string): void;
}

interface OpenRequest {
  id: number;
  socket: Viewer;
  askedNs: number;
  event: VideoEvent;
}

/**
 * Follows sampled pictures of each camera to the screen of one page that shows it, and reports their timing.
 */
export class PictureStamps {
  readonly #report: (event: VideoEvent) => void;
  readonly #nowNs: () => number;
  readonly #sampler = new VideoSampler();
  readonly #clocks = new WeakMap<Viewer, ClockSync>();
  readonly #open = new Map<string, OpenRequest>();
  #id = 0;

  constructor(report: (event: VideoEvent) => void, nowNs: () => number) {
    this.#report = report;
    this.#nowNs = nowNs;
  }

  /** Call before a picture is sent; `viewer` is a page that will get it, if any. */
  onPicture(frame: ReceivedFrame, viewer: Viewer | undefined): void {
    const nowNs = this.#nowNs();
    this.#giveUp(frame.camera, nowNs);
    if (this.#open.has(frame.camera) || !this.#sampler.due(frame.camera, nowNs)) return;
    const event = arrivalEvent(frame);
    if (viewer === undefined) return this.#report(event);
    const ask: VideoAsk = { kind: 'stamp', id: ++this.#id };
    this.#open.set(frame.camera, { id: ask.id, socket: viewer, askedNs: nowNs, event });
    viewer.send(JSON.stringify(ask));
  }

  /** Any message from a page on a camera's socket; ignored unless it answers the open request. */
  receive(socket: Viewer, camera: string, text: string): void {
    const receivedNs = this.#nowNs();
    const answer = parseJson(text, answerSchema, MAX_ANSWER_BYTES);
    const request = this.#open.get(camera);
    if (typeof answer === 'string' || request?.id !== answer.id || request.socket !== socket) return;
    this.#open.delete(camera);
    const clock = this.#clocks.get(socket) ?? new ClockSync();
    this.#clocks.set(socket, clock);
    clock.add(request.askedNs, answer.askedMs * 1e6, answer.sentMs * 1e6, receivedNs);
    this.#report({ ...request.event, ...(clock.synchronized ? onScreen(answer, clock) : {}) });
  }

  #giveUp(camera: string, nowNs: number): void {
    const request = this.#open.get(camera);
    if (request === undefined || nowNs - request.askedNs < ANSWER_NS) return;
    this.#open.delete(camera);
    this.#report(request.event);
  }
}

function onScreen({ decodedMs, displayedMs }: VideoAnswer, clock: ClockSync): Partial<VideoEvent> {
  return {
    decodedNs: Math.round(clock.toOperatorNs(decodedMs * 1e6)),
    displayedNs: displayedMs === null ? null : Math.round(clock.toOperatorNs(displayedMs * 1e6)),
    pageUncertaintyNs: Math.round(clock.uncertaintyNs),
  };
}
