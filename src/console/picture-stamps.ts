import { z } from 'zod';
import { arrivalEvent, VideoSampler } from '../camera/video-sampling.ts';
import { parseJson } from '../core/parse-json.ts';
import type { ReceivedFrame } from '../messages/recording.ts';
import type { VideoAnswer, VideoAsk, VideoEvent } from '../messages/video-event.ts';
import { ClockSync } from '../wire/clock-sync.ts';

/** A picture that has not been shown by then never was. */
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

interface Question {
  id: number;
  socket: Viewer;
  askedNs: number;
  event: VideoEvent;
}

/** Follows some pictures of each camera to the screen of one page that shows it, and tells how they got there. */
export class PictureStamps {
  readonly #report: (event: VideoEvent) => void;
  readonly #nowNs: () => number;
  readonly #sampler = new VideoSampler();
  readonly #clocks = new WeakMap<Viewer, ClockSync>();
  readonly #open = new Map<string, Question>();
  #id = 0;

  constructor(report: (event: VideoEvent) => void, nowNs: () => number) {
    this.#report = report;
    this.#nowNs = nowNs;
  }

  /** Before a picture is sent; `viewer` is a page that will get it, if there is one. */
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

  /** Whatever a page says on a camera's socket; what is no answer to an open question is ignored. */
  receive(socket: Viewer, camera: string, text: string): void {
    const receivedNs = this.#nowNs();
    const answer = parseJson(text, answerSchema, MAX_ANSWER_BYTES);
    const question = this.#open.get(camera);
    if (typeof answer === 'string' || question?.id !== answer.id || question.socket !== socket) return;
    this.#open.delete(camera);
    const clock = this.#clocks.get(socket) ?? new ClockSync();
    this.#clocks.set(socket, clock);
    clock.add(question.askedNs, answer.askedMs * 1e6, answer.sentMs * 1e6, receivedNs);
    this.#report({ ...question.event, ...(clock.synchronized ? onScreen(answer, clock) : {}) });
  }

  #giveUp(camera: string, nowNs: number): void {
    const question = this.#open.get(camera);
    if (question === undefined || nowNs - question.askedNs < ANSWER_NS) return;
    this.#open.delete(camera);
    this.#report(question.event);
  }
}

function onScreen({ decodedMs, displayedMs }: VideoAnswer, clock: ClockSync): Partial<VideoEvent> {
  return {
    decodedNs: Math.round(clock.toOperatorNs(decodedMs * 1e6)),
    displayedNs: displayedMs === null ? null : Math.round(clock.toOperatorNs(displayedMs * 1e6)),
    pageUncertaintyNs: Math.round(clock.uncertaintyNs),
  };
}
