import type { DeskBytes, InputDevice, InputQuality } from '../input/device.ts';
import { emptyHandSample, type HandSample, type SampleStatus } from '../messages/hand-sample.ts';
import { Topic } from './topic.ts';

export interface OpenInput {
  device: InputDevice;
  /** No human holds a clutch: engaging again after a hold needs none. */
  automatic: boolean;
  /** No clutch to hold, see `InputPlugin`. */
  clutchless?: boolean;
  /** Which message of the console is for it, see `InputPlugin`. */
  desk?: DeskBytes;
  /** How many sockets it listens on. */
  sockets?: number;
}

/** What a tick sampled; reused from tick to tick. */
export interface SampledHand {
  /** The tick, operator clock. */
  sampledNs: number;
  /** When the newest message of the active input came; NaN from inputs that hear nobody. */
  arrivedNs: number;
  sample: HandSample;
  status: SampleStatus;
  automatic: boolean;
  clutchless: boolean;
  /** Grows when another input or sender takes over, so that its pose is never related to the old one's. */
  source: number;
}

/** The only pull in the chain: at each tick, the newest sample of the active input. */
export class Sampler {
  readonly topic = new Topic<SampledHand>();
  readonly hand: SampledHand = {
    sampledNs: 0,
    arrivedNs: Number.NaN,
    sample: emptyHandSample(),
    status: 'none',
    automatic: false,
    clutchless: false,
    source: 0,
  };
  readonly #desk: Partial<Record<DeskBytes, InputDevice>> = {};
  readonly #inputs: ReadonlyMap<string, OpenInput>;
  /** Where the datagrams of each input socket go, in the order the sockets were opened. */
  readonly routes: { device: InputDevice; socket: number }[] = [];
  #active: string;
  #stream = 0;
  /** The device that was received last, and when. */
  #received: InputDevice | null = null;
  #receivedNs = Number.NaN;

  constructor(inputs: ReadonlyMap<string, OpenInput>, active: string) {
    this.#inputs = inputs;
    this.#active = active;
    for (const { device, desk, sockets = 0 } of inputs.values()) {
      if (desk !== undefined) this.#desk[desk] = device;
      for (let socket = 0; socket < sockets; socket++) this.routes.push({ device, socket });
    }
  }

  get active(): string {
    return this.#active;
  }

  select(name: string): boolean {
    if (!this.#inputs.has(name)) return false;
    if (name !== this.#active) this.hand.source++;
    this.#active = name;
    return true;
  }

  /** The input that takes such messages of the console; undefined where the rig offers none. */
  deskInput(kind: DeskBytes): InputDevice | undefined {
    return this.#desk[kind];
  }

  /** A message of `device` was taken. Hot path. */
  received(device: InputDevice, arrivedNs: number): void {
    if (device !== this.#inputs.get(this.#active)!.device) return;
    this.#received = device;
    this.#receivedNs = arrivedNs;
  }

  /** How often the record button of any input was pressed. Hot path. */
  get recordPresses(): number {
    let presses = 0;
    for (const { device } of this.#inputs.values()) presses += device.recordPresses ?? 0;
    return presses;
  }

  /** How well an input hears its sender; the active one if not told. Hot path. */
  quality(nowNs: number, out: InputQuality, name = this.#active): void {
    const { device } = this.#inputs.get(name)!;
    out.from = device.sender?.(nowNs) ?? 0;
    out.jitterNs = Number.NaN;
    if (device.quality !== undefined) device.quality(nowNs, out);
    else out.rateHz = Number.NaN;
  }

  /** An input that has a beginning goes back to it; the state holds its first sample. */
  restart(): void {
    const { device } = this.#inputs.get(this.#active)!;
    device.restart?.(this.hand.sampledNs);
    this.#pull(device);
  }

  /** Inputs that track no fingers leave the points alone, those without joints the joints, and those that know no sender its stamp. */
  #pull(device: InputDevice): void {
    this.hand.sample.points = 0;
    this.hand.sample.joints = 0;
    this.hand.sample.sentNs = Number.NaN;
    this.hand.arrivedNs = device === this.#received ? this.#receivedNs : Number.NaN;
    this.hand.status = device.sample(this.hand.sampledNs, this.hand.sample);
  }

  /** Hot path. */
  tick(nowNs: number): void {
    const input = this.#inputs.get(this.#active)!;
    const { stream = 0 } = input.device;
    if (stream !== this.#stream) this.hand.source++;
    this.#stream = stream;
    this.hand.clutchless = input.clutchless ?? false;
    this.hand.sampledNs = nowNs;
    this.hand.automatic = input.automatic;
    this.#pull(input.device);
    this.topic.publish(this.hand);
  }
}
