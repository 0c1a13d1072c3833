import { z } from 'zod';
import type { Reason } from '../../core/counters.ts';
import { capDeflection, moveByCap } from '../../geometry/cap-motion.ts';
import type { HandSample, SampleStatus } from '../../messages/hand-sample.ts';
import { isPressed } from '../codecs/controls-codec.ts';
import { ControlsStream } from '../controls-stream.ts';
import type { InputDevice, InputPlugin } from '../device.ts';

const BUTTON_ACTS = ['gripper', 'clutch', 'record', 'hand-back', 'estop', 'none'] as const;
type ButtonAct = (typeof BUTTON_ACTS)[number];

const config = z.strictObject({
  device: z
    .string()
    .default('auto')
    .describe('device file of Linux’s input layer; auto: the first 3Dconnexion in /dev/input/by-id'),
  speedMS: z.number().min(0.01).max(1).default(0.25).describe('speed of the hand at full deflection'),
  turnRadS: z.number().min(0).max(3).default(0.8).describe('rate of turn at full deflection'),
  deadZone: z.number().min(0.01).max(0.5).default(0.08).describe('deflection without effect, of full'),
  fullCounts: z
    .number()
    .min(50)
    .max(2000)
    .default(350)
    .describe('what the device reports at full deflection'),
  leftButton: z.enum(BUTTON_ACTS).default('gripper').describe('what the left button does'),
  rightButton: z.enum(BUTTON_ACTS).default('record').describe('what the right button does'),
  port: z.int().min(0).max(65535).default(0).describe('UDP port on loopback; 0: any'),
  staleAfterMs: z.number().min(50).max(1000).default(120).describe('silence after which the device is gone'),
});
type Config = z.infer<typeof config>;

/** BTN_0 and BTN_1, the two buttons of every 3Dconnexion mouse. */
const BUTTONS = [0x100, 0x101] as const;
/** The cap counts as held for this long after it is back in the middle: turning through it does not let go. */
const CAP_HOLD_NS = 500e6;
const GRIPPER_PER_S = 2.5;
/** A longer gap between two samples means that nobody was driving. */
const MAX_STEP_S = 0.05;

/**
 * A mouse with six axes. Its deflection is the speed of a hand. While the cap is deflected the clutch is closed,
 * unless a button or another input is the clutch.
 */
class SpaceMouse implements InputDevice {
  readonly #config: Config;
  readonly #received: ControlsStream;
  readonly #acts: readonly ButtonAct[];
  readonly #wasDown = [false, false];
  readonly #positionM = new Float64Array(3);
  readonly #quatXyzw = new Float64Array([0, 0, 0, 1]);
  readonly #deflection = new Float64Array(6);
  #gripper = 0;
  #gripperTarget = 0;
  #sampledNs = Number.NEGATIVE_INFINITY;
  #deflectedNs = Number.NEGATIVE_INFINITY;
  #opened = false;
  estop = false;
  recordPresses = 0;
  handBackPresses = 0;

  constructor(config: Config) {
    this.#config = config;
    this.#received = new ControlsStream(config.staleAfterMs);
    this.#acts = [config.leftButton, config.rightButton];
  }

  get stream(): number {
    return this.#received.stream;
  }

  ingest(bytes: Uint8Array, length: number, receivedNs: number, from: number): Reason | null {
    this.estop = false;
    const reason = this.#received.take(bytes, length, receivedNs, from);
    if (reason !== null) return reason;
    const { controls } = this.#received;
    const { deadZone, fullCounts } = this.#config;
    if (capDeflection(controls.axes, fullCounts, deadZone, this.#deflection)) this.#deflectedNs = receivedNs;
    for (let i = 0; i < BUTTONS.length; i++) this.#button(i, isPressed(controls, BUTTONS[i]!));
    this.estop = this.#isHeld('estop');
    if (!this.#clutchAt(receivedNs)) this.#opened = true;
    return null;
  }

  #button(button: number, isDown: boolean): void {
    const isNew = isDown && !this.#wasDown[button];
    this.#wasDown[button] = isDown;
    if (!isNew) return;
    const act = this.#acts[button];
    if (act === 'gripper') this.#gripperTarget = 1 - this.#gripperTarget;
    else if (act === 'record') this.recordPresses++;
    else if (act === 'hand-back') this.handBackPresses++;
  }

  #isHeld(act: ButtonAct): boolean {
    for (let i = 0; i < BUTTONS.length; i++) if (this.#acts[i] === act && this.#wasDown[i]) return true;
    return false;
  }

  #clutchAt(nowNs: number): boolean {
    if (this.#acts.includes('clutch')) return this.#isHeld('clutch');
    return nowNs - this.#deflectedNs <= CAP_HOLD_NS;
  }

  sender(nowNs: number): number {
    return this.#received.sender(nowNs);
  }

  sample(nowNs: number, out: HandSample): SampleStatus {
    const status = this.#received.status(nowNs);
    const fresh = status === 'ok';
    if (fresh) this.#move(Math.min(MAX_STEP_S, Math.max(0, (nowNs - this.#sampledNs) / 1e9)));
    this.#sampledNs = nowNs;
    out.takenNs = this.#received.takenNs;
    out.positionM.set(this.#positionM);
    out.quatXyzw.set(this.#quatXyzw);
    out.gripper = this.#gripper;
    out.clutch = fresh && this.#clutchAt(nowNs) && !this.#opened;
    this.#opened = false;
    out.estop = fresh && this.#isHeld('estop');
    out.tracking = fresh;
    return status;
  }

  #move(dtS: number): void {
    const { speedMS, turnRadS } = this.#config;
    moveByCap(this.#deflection, speedMS * dtS, turnRadS * dtS, this.#positionM, this.#quatXyzw);
    const step = GRIPPER_PER_S * dtS;
    this.#gripper += Math.max(-step, Math.min(step, this.#gripperTarget - this.#gripper));
  }
}

const plugin: InputPlugin<Config> = {
  about: 'a 3Dconnexion mouse with six axes on this machine',
  automatic: false,
  config,
  sockets: ({ port }) => [
    { name: 'spacemouse', host: '127.0.0.1', port, portKey: 'operator.inputs.spacemouse.port' },
  ],
  files: ({ device }) => [
    {
      name: 'spacemouse',
      path: device,
      match: /3dconnexion.*-event-/i,
      socket: 0,
      key: 'operator.inputs.spacemouse.device',
    },
  ],
  open: (options) => new SpaceMouse(options),
};

export default plugin;
