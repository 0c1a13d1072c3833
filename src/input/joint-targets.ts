import { z } from 'zod';
import type { Reason } from '../core/counters.ts';
import { type HandSample, MAX_JOINTS, type SampleStatus } from '../messages/hand-sample.ts';
import type { InputDevice, InputPlugin } from './device.ts';
import { SourceLock } from './source-lock.ts';

/** Larger angles are invalid for any joint. */
const MAX_ANGLE_RAD = 4 * Math.PI;
/**
 * After a sender's pause, catching up takes several messages: each period is at least this part of the last.
 */
const PERIOD_DECAY = 0.9;
const decoder = new TextDecoder();

/** What a sender writes, as JSON. */
export interface JointTarget {
  jointsRad: readonly number[];
  /** 0 open to 1 closed. */
  gripper: number;
  clutch: boolean;
  /** `policy`, or any other program if absent. An input of a person ignores it. */
  source?: 'policy' | 'program';
  /** Increases when the sender's button to hand back is pressed. */
  handBacks?: number;
}

/**
 * Joint angles from another program on this machine. Between two targets it interpolates linearly over the
 * sender's period, so that a slow sender moves the joints evenly.
 */
class JointTargets implements InputDevice {
  readonly #staleNs: number;
  readonly #isPerson: boolean;
  readonly #lock = new SourceLock([]);
  readonly #fromRad = new Float64Array(MAX_JOINTS);
  readonly #toRad = new Float64Array(MAX_JOINTS);
  #joints = 0;
  #gripper = 0;
  #clutch = false;
  #isPolicy = false;
  /** Was open since the last sample: a release undone before the next tick still counts. */
  #opened = false;
  #receivedNs = Number.NEGATIVE_INFINITY;
  #periodNs = 0;
  #handBacks = 0;
  stream = 0;
  handBackPresses = 0;

  constructor(staleAfterMs: number, isPerson: boolean) {
    this.#staleNs = staleAfterMs * 1e6;
    this.#isPerson = isPerson;
  }

  ingest(bytes: Uint8Array, length: number, receivedNs: number, from: number): Reason | null {
    let body: unknown;
    try {
      body = JSON.parse(decoder.decode(bytes.subarray(0, length)));
    } catch {
      return 'bad-json';
    }
    if (typeof body !== 'object' || body === null) return 'malformed';
    const { jointsRad, gripper, clutch, source, handBacks } = body as Record<string, unknown>;
    if (!Array.isArray(jointsRad) || typeof clutch !== 'boolean') return 'malformed';
    if (jointsRad.length === 0 || jointsRad.length > MAX_JOINTS) return 'joint-count';
    if (!jointsRad.every(Number.isFinite) || !Number.isFinite(gripper)) return 'non-finite';
    if (jointsRad.some((rad) => Math.abs(rad as number) > MAX_ANGLE_RAD)) return 'bad-range';
    if ((gripper as number) < 0 || (gripper as number) > 1) return 'bad-range';
    const admitted = this.#lock.admit(from, receivedNs);
    if (admitted === 'rejected') return 'unknown-source';
    const pressed = Number.isSafeInteger(handBacks) ? (handBacks as number) : 0;
    if (admitted === 'new') this.stream++;
    else if (pressed > this.#handBacks) this.handBackPresses++;
    this.#handBacks = pressed;
    this.#isPolicy = source === 'policy';
    this.#take(jointsRad as number[], gripper as number, clutch, receivedNs);
    return null;
  }

  sender(nowNs: number): number {
    return this.#lock.holder(nowNs);
  }

  #take(jointsRad: readonly number[], gripper: number, clutch: boolean, receivedNs: number): void {
    const sinceNs = receivedNs - this.#receivedNs;
    const goesOn = this.#clutch && clutch && jointsRad.length === this.#joints && sinceNs <= this.#staleNs;
    for (let i = 0; i < jointsRad.length; i++)
      this.#fromRad[i] = goesOn ? this.#angleAt(i, receivedNs) : jointsRad[i]!;
    for (let i = 0; i < jointsRad.length; i++) this.#toRad[i] = jointsRad[i]!;
    this.#joints = jointsRad.length;
    this.#gripper = gripper;
    this.#clutch = clutch;
    if (!clutch) this.#opened = true;
    this.#periodNs = goesOn ? Math.max(sinceNs, PERIOD_DECAY * this.#periodNs) : 0;
    this.#receivedNs = receivedNs;
  }

  #angleAt(joint: number, nowNs: number): number {
    const part =
      this.#periodNs > 0 ? Math.min(1, Math.max(0, (nowNs - this.#receivedNs) / this.#periodNs)) : 1;
    const fromRad = this.#fromRad[joint]!;
    return fromRad + part * (this.#toRad[joint]! - fromRad);
  }

  sample(nowNs: number, out: HandSample): SampleStatus {
    const fresh = nowNs - this.#receivedNs <= this.#staleNs;
    out.takenNs = fresh ? nowNs : this.#receivedNs;
    out.positionM.fill(0);
    out.quatXyzw.fill(0);
    out.quatXyzw[3] = 1;
    out.gripper = this.#gripper;
    out.clutch = fresh && this.#clutch && !this.#opened;
    this.#opened = false;
    out.tracking = fresh;
    out.estop = false;
    out.source = this.#isPerson ? 'person' : this.#isPolicy ? 'policy' : 'program';
    out.joints = this.#joints;
    for (let i = 0; i < this.#joints; i++) out.jointsRad[i] = this.#angleAt(i, nowNs);
    return fresh ? 'ok' : this.#receivedNs === Number.NEGATIVE_INFINITY ? 'none' : 'stale';
  }
}

/** An input that takes joint targets on a port of loopback. `isPerson`: whoever sends them is one, who may take over from a policy. */
export function jointTargets(about: string, defaultPort: number, isPerson: boolean) {
  const config = z.strictObject({
    port: z.int().min(0).max(65535).default(defaultPort).describe('UDP port on loopback'),
    staleAfterMs: z
      .number()
      .min(50)
      .max(1000)
      .default(250)
      .describe('silence after which the robot holds; longer than the sender’s period'),
  });
  const name = isPerson ? 'leader' : 'joints';
  const plugin: InputPlugin<z.infer<typeof config>> = {
    about,
    automatic: false,
    config,
    sockets: ({ port }) => [
      { name: 'joint targets', host: '127.0.0.1', port, portKey: `operator.inputs.${name}.port` },
    ],
    open: ({ staleAfterMs }) => new JointTargets(staleAfterMs, isPerson),
  };
  return plugin;
}
