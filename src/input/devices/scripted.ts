import { z } from 'zod';
import { HAND_SHAPES, shapeHand } from '../../hand/model-hand.ts';
import { HAND_NUMBERS, HAND_POINTS } from '../../hand/points.ts';
import type { HandSample, SampleStatus } from '../../messages/hand-sample.ts';
import type { InputDevice, InputPlugin } from '../device.ts';

const config = z.strictObject({
  periodS: z.number().min(2).max(60).default(8).describe('time for one figure eight'),
  widthM: z.number().min(0.01).max(0.3).default(0.1).describe('half width of the figure eight'),
  heightM: z.number().min(0.01).max(0.3).default(0.06).describe('half height of the figure eight'),
  fingers: z.boolean().default(false).describe('also bend the fingers, for a robot hand'),
  rollRad: z.number().min(0).max(1.5).default(0.6).describe('amplitude of the wrist roll'),
});
type Config = z.infer<typeof config>;

/** A hand drawing a figure eight in front of the body, rolling the wrist and working the gripper. */
class ScriptedHand implements InputDevice {
  readonly #config: Config;
  readonly #openM = new Float64Array(HAND_NUMBERS);
  readonly #fistM = new Float64Array(HAND_NUMBERS);
  readonly #place = { positionM: [0, 0, 0], pitchRad: 0 };
  #startNs: number;

  constructor(config: Config, startNs: number) {
    this.#config = config;
    this.#startNs = startNs;
    shapeHand(HAND_SHAPES.open, this.#place, false, this.#openM);
    shapeHand(HAND_SHAPES.fist, this.#place, false, this.#fistM);
  }

  ingest(): 'unknown-source' {
    return 'unknown-source';
  }

  restart(nowNs: number): void {
    this.#startNs = nowNs;
  }

  sample(nowNs: number, out: HandSample): SampleStatus {
    const { periodS, widthM, heightM, rollRad, fingers } = this.#config;
    const phase = (2 * Math.PI * (nowNs - this.#startNs)) / (periodS * 1e9);
    out.takenNs = nowNs;
    out.positionM[0] = widthM * Math.sin(phase);
    out.positionM[1] = 1.2 + heightM * Math.sin(2 * phase);
    out.positionM[2] = -0.3;
    const half = (rollRad * Math.sin(phase / 2)) / 2;
    out.quatXyzw[0] = 0;
    out.quatXyzw[1] = 0;
    out.quatXyzw[2] = Math.sin(half);
    out.quatXyzw[3] = Math.cos(half);
    out.gripper = 0.5 - 0.5 * Math.cos(phase);
    out.clutch = true;
    out.tracking = true;
    out.estop = false;
    out.points = fingers ? HAND_POINTS : 0;
    out.isLeft = false;
    if (fingers) this.#fingers(out);
    return 'ok';
  }

  /** Half way to a fist and back, like the gripper; points move in straight lines between the two. */
  #fingers({ pointsM, positionM, gripper }: HandSample): void {
    for (let i = 0; i < HAND_NUMBERS; i++) {
      const openM = this.#openM[i]!;
      pointsM[i] = openM + 0.5 * gripper * (this.#fistM[i]! - openM) + positionM[i % 3]!;
    }
  }
}

const plugin: InputPlugin<Config> = {
  about: 'a figure eight with wrist roll and gripper, no person needed',
  automatic: true,
  config,
  open: (options, nowNs) => new ScriptedHand(options, nowNs),
};

export default plugin;
