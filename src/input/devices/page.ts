import { z } from 'zod';
import type { Reason } from '../../core/counters.ts';
import { emptyHandSample, type HandSample, type SampleStatus } from '../../core/messages.ts';
import type { InputDevice, InputPlugin } from '../device.ts';

const config = z.strictObject({
  staleAfterMs: z
    .number()
    .min(50)
    .max(1000)
    .default(200)
    .describe('silence after which the page counts as gone'),
});
type Config = z.infer<typeof config>;

const MAX_REACH_M = 5;
const MAX_NORM_ERROR = 0.05;
const decoder = new TextDecoder();

/** Keyboard or pointer in the console page: the page integrates a hand pose and sends it as JSON, with its instant. */
class PageHand implements InputDevice {
  recordPresses = 0;
  #recordPressed = false;
  readonly #staleNs: number;
  readonly #newest: HandSample = emptyHandSample();

  constructor(config: Config) {
    this.#staleNs = config.staleAfterMs * 1e6;
    this.#newest.takenNs = Number.NEGATIVE_INFINITY;
  }

  ingest(bytes: Uint8Array, length: number, receivedNs: number): Reason | null {
    let body: unknown;
    try {
      body = JSON.parse(decoder.decode(bytes.subarray(0, length)));
    } catch {
      return 'bad-json';
    }
    if (typeof body !== 'object' || body === null) return 'malformed';
    const { positionM, quatXyzw, gripper, clutch, record, takenNs } = body as Record<string, unknown>;
    if (!isVector(positionM, 3) || !isVector(quatXyzw, 4) || typeof clutch !== 'boolean') return 'malformed';
    if (!isNumber(gripper) || gripper < 0 || gripper > 1) return 'bad-range';
    const norm = Math.hypot(...quatXyzw);
    if (!(Math.abs(norm - 1) <= MAX_NORM_ERROR) || positionM.some((m) => Math.abs(m) > MAX_REACH_M))
      return 'bad-range';
    if (takenNs !== undefined && !isNumber(takenNs)) return 'malformed';
    const newest = this.#newest;
    if (takenNs !== undefined && receivedNs - takenNs > this.#staleNs) {
      // Letting go counts however late it comes.
      if (!clutch) newest.clutch = false;
      return 'too-old';
    }
    newest.positionM.set(positionM);
    for (let i = 0; i < 4; i++) newest.quatXyzw[i] = quatXyzw[i]! / norm;
    newest.gripper = gripper;
    newest.clutch = clutch;
    // Unknown, or later than its arrival by the error of the clock relation: then the arrival counts.
    newest.takenNs = takenNs === undefined ? receivedNs : Math.min(takenNs, receivedNs);
    if (record === true && !this.#recordPressed) this.recordPresses++;
    this.#recordPressed = record === true;
    return null;
  }

  sample(nowNs: number, out: HandSample): SampleStatus {
    const newest = this.#newest;
    const fresh = nowNs - newest.takenNs <= this.#staleNs;
    out.takenNs = newest.takenNs;
    out.positionM.set(newest.positionM);
    out.quatXyzw.set(newest.quatXyzw);
    out.gripper = newest.gripper;
    out.clutch = fresh && newest.clutch;
    out.tracking = fresh;
    out.estop = false;
    return fresh ? 'ok' : newest.takenNs === Number.NEGATIVE_INFINITY ? 'none' : 'stale';
  }
}

const isNumber = (value: unknown): value is number => Number.isFinite(value);

function isVector(value: unknown, length: number): value is number[] {
  return Array.isArray(value) && value.length === length && value.every(isNumber);
}

const plugin: InputPlugin<Config> = {
  about: 'keyboard or pointer in the console page',
  automatic: false,
  config,
  open: (options) => new PageHand(options),
};

export default plugin;
