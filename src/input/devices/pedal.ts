import { z } from 'zod';
import type { Reason } from '../../core/counters.ts';
import type { HandSample, SampleStatus } from '../../messages/hand-sample.ts';
import { isPressed } from '../codecs/controls-codec.ts';
import { ControlsStream } from '../controls-stream.ts';
import type { InputDevice, InputPlugin } from '../device.ts';

const key = z.int().min(0).max(767);
const config = z.strictObject({
  device: z
    .string()
    .default('auto')
    .describe('device file of Linux’s input layer; auto: the first in /dev/input/by-id named as a pedal'),
  clutch: key
    .default(30)
    .describe('key code of the pedal that closes the clutch while it is pressed (30: A)'),
  record: key.default(48).describe('key code of the pedal that starts and stops a recording (48: B)'),
  handBack: key.default(46).describe('key code of the pedal that hands back to a policy (46: C)'),
  estop: key.default(0).describe('key code of a pedal that stops the robot; 0: none'),
  port: z.int().min(0).max(65535).default(0).describe('UDP port on loopback; 0: any'),
  staleAfterMs: z.number().min(50).max(1000).default(120).describe('silence after which the pedal is gone'),
});
type Config = z.infer<typeof config>;

/** Foot pedals: a clutch and buttons for another input that has the hand (`operator.roles`). */
class Pedal implements InputDevice {
  readonly #config: Config;
  readonly #received: ControlsStream;
  #wasRecord = false;
  #wasHandBack = false;
  /** Was open since the last sample: a release undone before the next tick still counts. */
  #opened = false;
  estop = false;
  recordPresses = 0;
  handBackPresses = 0;

  constructor(config: Config) {
    this.#config = config;
    this.#received = new ControlsStream(config.staleAfterMs);
  }

  get stream(): number {
    return this.#received.stream;
  }

  ingest(bytes: Uint8Array, length: number, receivedNs: number, from: number): Reason | null {
    this.estop = false;
    const reason = this.#received.take(bytes, length, receivedNs, from);
    if (reason !== null) return reason;
    this.estop = this.#isDown(this.#config.estop);
    if (!this.#isDown(this.#config.clutch)) this.#opened = true;
    const [record, handBack] = [this.#isDown(this.#config.record), this.#isDown(this.#config.handBack)];
    if (record && !this.#wasRecord) this.recordPresses++;
    if (handBack && !this.#wasHandBack) this.handBackPresses++;
    this.#wasRecord = record;
    this.#wasHandBack = handBack;
    return null;
  }

  #isDown(code: number): boolean {
    return code !== 0 && isPressed(this.#received.controls, code);
  }

  sender(nowNs: number): number {
    return this.#received.sender(nowNs);
  }

  sample(nowNs: number, out: HandSample): SampleStatus {
    const status = this.#received.status(nowNs);
    const fresh = status === 'ok';
    out.takenNs = this.#received.takenNs;
    out.positionM.fill(0);
    out.quatXyzw.fill(0);
    out.quatXyzw[3] = 1;
    out.gripper = 0;
    out.clutch = fresh && this.#isDown(this.#config.clutch) && !this.#opened;
    this.#opened = false;
    out.estop = fresh && this.#isDown(this.#config.estop);
    out.tracking = fresh;
    return status;
  }
}

const plugin: InputPlugin<Config> = {
  about: 'foot pedals: clutch and buttons for another input',
  automatic: false,
  config,
  sockets: ({ port }) => [{ name: 'pedal', host: '127.0.0.1', port, portKey: 'operator.inputs.pedal.port' }],
  files: ({ device }) => [
    {
      name: 'pedal',
      path: device,
      match: /(pedal|foot).*-event-/i,
      socket: 0,
      key: 'operator.inputs.pedal.device',
    },
  ],
  open: (options) => new Pedal(options),
};

export default plugin;
