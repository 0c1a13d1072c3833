import { z } from 'zod';
import type { Reason } from '../../core/counters.ts';
import { HAND_POINTS } from '../../hand/points.ts';
import { SliderHand } from '../../hand/slider-hand.ts';
import { emptyHandSample, type HandSample, type SampleStatus } from '../../messages/hand-sample.ts';
import type { InputDevice, InputPlugin } from '../device.ts';

const config = z.strictObject({
  staleAfterMs: z
    .number()
    .min(50)
    .max(1000)
    .default(200)
    .describe('silence after which the page counts as gone'),
  fingers: z
    .boolean()
    .default(false)
    .describe(
      'for a robot hand: closing the gripper closes the fingers, moving left and right moves the thumb',
    ),
});
type Config = z.infer<typeof config>;

const MAX_REACH_M = 5;
/** Moving this far takes the thumb from one end to the other. */
const THUMB_M = 0.2;
const MAX_NORM_ERROR = 0.05;
const decoder = new TextDecoder();

/** Senders remembered at a time; rarely is there more than one. */
const MAX_SENDERS = 8;

/**
 * Keyboard or pointer in the console page: the page integrates a hand pose and sends it as JSON with its
 * time. The console adds which page it came from. A sender is one page of one socket; programs that give no page number are
 * separate senders too.
 */
class PageHand implements InputDevice {
  stream = 0;
  recordPresses = 0;
  #recordPressed = false;
  readonly #staleNs: number;
  readonly #fingers: SliderHand | null;
  /** Where the hand was when the clutch closed. */
  #anchorM = Number.NaN;
  readonly #newest: HandSample = emptyHandSample();
  /** When each sender last had its clutch open. */
  readonly #openNs = new Map<string, number>();
  #sender = '';
  /** Was open since the last sample: a release undone before the next tick still counts. */
  #opened = false;

  constructor(config: Config) {
    this.#staleNs = config.staleAfterMs * 1e6;
    this.#fingers = config.fingers ? new SliderHand() : null;
    this.#newest.takenNs = Number.NEGATIVE_INFINITY;
  }

  ingest(bytes: Uint8Array, length: number, receivedNs: number, from: number): Reason | null {
    let body: unknown;
    try {
      body = JSON.parse(decoder.decode(bytes.subarray(0, length)));
    } catch {
      return 'bad-json';
    }
    if (typeof body !== 'object' || body === null) return 'malformed';
    const {
      positionM,
      quatXyzw,
      gripper,
      clutch,
      record,
      takenNs,
      page = 0,
    } = body as Record<string, unknown>;
    if (!isVector(positionM, 3) || !isVector(quatXyzw, 4) || typeof clutch !== 'boolean') return 'malformed';
    if (!isNumber(gripper) || gripper < 0 || gripper > 1) return 'bad-range';
    const norm = Math.hypot(...quatXyzw);
    if (!(Math.abs(norm - 1) <= MAX_NORM_ERROR) || positionM.some((m) => Math.abs(m) > MAX_REACH_M))
      return 'bad-range';
    if ((takenNs !== undefined && !isNumber(takenNs)) || !isNumber(page)) return 'malformed';
    const sender = `${from} ${page}`;
    const newest = this.#newest;
    if (takenNs !== undefined && receivedNs - takenNs > this.#staleNs) {
      // A release counts however late it arrives.
      if (!clutch) newest.clutch = false;
      return 'too-old';
    }
    // One of two channels may be slower: it must not close again what was released since.
    if (clutch && sender === this.#sender && takenNs !== undefined && takenNs < newest.takenNs)
      return 'dropped-stale';
    this.#noteSender(sender, clutch, receivedNs);
    newest.positionM.set(positionM);
    for (let i = 0; i < 4; i++) newest.quatXyzw[i] = quatXyzw[i]! / norm;
    newest.gripper = gripper;
    newest.clutch = clutch;
    if (!clutch) this.#opened = true;
    // Unknown, or later than its arrival by the error of the clock relation: then use the arrival.
    newest.takenNs = takenNs === undefined ? receivedNs : Math.min(takenNs, receivedNs);
    if (record === true && !this.#recordPressed) this.recordPresses++;
    this.#recordPressed = record === true;
    return null;
  }

  /**
   * A sender that closes the clutch without having just been open, or while another holds it, counts as
   * another hand.
   */
  #noteSender(sender: string, clutch: boolean, receivedNs: number): void {
    const openNs = this.#openNs;
    const wasOpen = receivedNs - (openNs.get(sender) ?? Number.NEGATIVE_INFINITY) <= this.#staleNs;
    if (clutch && sender !== this.#sender && (this.#newest.clutch || !wasOpen)) this.stream++;
    this.#sender = sender;
    if (clutch) return;
    openNs.delete(sender);
    openNs.set(sender, receivedNs);
    if (openNs.size > MAX_SENDERS) openNs.delete(openNs.keys().next().value!);
  }

  sample(nowNs: number, out: HandSample): SampleStatus {
    const newest = this.#newest;
    const fresh = nowNs - newest.takenNs <= this.#staleNs;
    out.takenNs = newest.takenNs;
    out.positionM.set(newest.positionM);
    out.quatXyzw.set(newest.quatXyzw);
    out.gripper = newest.gripper;
    out.clutch = fresh && newest.clutch && !this.#opened;
    this.#opened = false;
    out.tracking = fresh;
    out.estop = false;
    if (this.#fingers !== null) this.#fillFingers(this.#fingers, out);
    return fresh ? 'ok' : newest.takenNs === Number.NEGATIVE_INFINITY ? 'none' : 'stale';
  }

  /** The thumb begins aside, whenever the clutch closes. */
  #fillFingers(fingers: SliderHand, out: HandSample): void {
    const x = out.positionM[0]!;
    if (!out.clutch || Number.isNaN(this.#anchorM)) this.#anchorM = x;
    const crossed = Math.min(1, Math.max(0, Math.abs(x - this.#anchorM) / THUMB_M));
    fingers.fill(out.gripper, crossed, out.pointsM);
    out.points = HAND_POINTS;
    out.isLeft = false;
  }
}

const isNumber = (value: unknown): value is number => Number.isFinite(value);

function isVector(value: unknown, length: number): value is number[] {
  return Array.isArray(value) && value.length === length && value.every(isNumber);
}

const plugin: InputPlugin<Config> = {
  about: 'keyboard or pointer in the console page',
  automatic: false,
  desk: 'hand',
  config,
  open: (options) => new PageHand(options),
};

export default plugin;
