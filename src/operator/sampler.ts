import type { DeskBytes, InputDevice, InputQuality } from '../input/device.ts';
import { emptyHandSample, type HandSample, type SampleStatus } from '../messages/hand-sample.ts';
import type { WorldState } from '../messages/world-state.ts';
import { TakeOver } from './take-over.ts';
import { Topic } from './topic.ts';

export interface OpenInput {
  device: InputDevice;
  /** No person holds a clutch: engaging again after a hold needs none. */
  automatic: boolean;
  /** No clutch to hold, see `InputPlugin`. */
  clutchless?: boolean;
  /** The console message it takes, see `InputPlugin`. */
  desk?: DeskBytes;
  /** Number of sockets it listens on. */
  sockets?: number;
}

/** Inputs that share the work with the one that drives, by name. */
export interface InputRoles {
  clutch?: string | null;
  record?: string | null;
}

/** The input of programs and policies on this machine. */
const POLICY_INPUT = 'joints';

/** The sample of a tick; reused from tick to tick. */
export interface SampledHand {
  /** Time of the tick, operator clock. */
  sampledNs: number;
  /** Arrival of the active input's newest message; NaN for inputs without a sender. */
  arrivedNs: number;
  sample: HandSample;
  status: SampleStatus;
  automatic: boolean;
  clutchless: boolean;
  /**
   * Increases when another input or sender takes over, so that its pose is never related to the old one's.
   */
  source: number;
  /** At this tick a person took over from a policy: the engagement goes on with this hand. */
  tookOver: boolean;
  /** A person drives an attempt that a policy began. */
  isIntervention: boolean;
  /** What a policy would do that runs along while a person drives; `joints` is 0 if none does. */
  shadow: HandSample;
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
    tookOver: false,
    isIntervention: false,
    shadow: emptyHandSample(),
  };
  readonly #desk: Partial<Record<DeskBytes, InputDevice>> = {};
  readonly #inputs: ReadonlyMap<string, OpenInput>;
  /** All of them: walking a map allocates. */
  readonly #devices: readonly InputDevice[];
  /** The device for each input socket, in the order the sockets were opened. */
  readonly routes: { device: InputDevice; socket: number }[] = [];
  #active: string;
  #stream = 0;
  /** The device whose message arrived last, and when. */
  #received: InputDevice | null = null;
  #receivedNs = Number.NaN;
  readonly #takeOver: TakeOver;
  /** Through which policies drive; null: the rig has none. */
  readonly #policyInput: InputDevice | null;

  /** Whose clutch counts for every input of a person; null: their own. */
  readonly #clutch: OpenInput | null;
  readonly #clutchSample = emptyHandSample();
  #clutchStream = 0;
  /** Whose record button counts; null: any. */
  readonly #recorder: InputDevice | null;

  constructor(inputs: ReadonlyMap<string, OpenInput>, active: string, roles: InputRoles = {}) {
    this.#inputs = inputs;
    this.#clutch = inputs.get(roles.clutch ?? '') ?? null;
    this.#recorder = inputs.get(roles.record ?? '')?.device ?? null;
    this.#devices = [...inputs.values()].map(({ device }) => device);
    this.#active = active;
    this.#policyInput = inputs.get(POLICY_INPUT)?.device ?? null;
    this.#takeOver = new TakeOver(this.#standby(active));
    for (const { device, desk, sockets = 0 } of inputs.values()) {
      if (desk !== undefined) this.#desk[desk] = device;
      for (let socket = 0; socket < sockets; socket++) this.routes.push({ device, socket });
    }
  }

  /** Who may take over from a policy: an input, and the device whose clutch it takes. */
  #standby(active: string): { name: string; device: InputDevice; clutchless: boolean }[] {
    const people = [...this.#inputs].filter(([name, { automatic }]) => name !== POLICY_INPUT && !automatic);
    const clutch = this.#clutch;
    if (clutch === null)
      return people.map(([name, { device, clutchless = false }]) => ({ name, device, clutchless }));
    const hands = people.filter(([, input]) => input !== clutch);
    const [name] = hands.find(([each]) => each === active) ?? hands[0] ?? [null];
    return name === null ? [] : [{ name, device: clutch.device, clutchless: false }];
  }

  get active(): string {
    return this.#active;
  }

  /** A person chose an input. If a policy drives, it holds and waits to be handed the robot back. */
  choose(name: string): boolean {
    const interrupted = this.hand.sample.source === 'policy' && name !== this.#active ? this.#active : null;
    if (!this.select(name)) return false;
    this.#takeOver.interrupted = interrupted;
    return true;
  }

  select(name: string): boolean {
    if (!this.#inputs.has(name)) return false;
    if (name !== this.#active) this.hand.source++;
    this.#active = name;
    this.#takeOver.interrupted = null;
    this.#takeOver.forget();
    return true;
  }

  /** The policy that a person interrupted waits for `handBack`. */
  get isInterrupted(): boolean {
    return this.#takeOver.interrupted !== null;
  }

  /** Lets the interrupted policy drive again; false if there is none. */
  handBack(): boolean {
    const { interrupted } = this.#takeOver;
    return interrupted !== null && this.select(interrupted);
  }

  /** A person without a clutch takes over at the next tick, if their hand is visible then; false: nobody can. */
  requestTakeOver(): boolean {
    if (this.hand.sample.source !== 'policy' || !this.#takeOver.hasClutchless) return false;
    this.#takeOver.isRequested = true;
    return true;
  }

  /** How often the hand-back button of any input was pressed. Hot path. */
  get handBackPresses(): number {
    let presses = 0;
    for (let i = 0; i < this.#devices.length; i++) presses += this.#devices[i]!.handBackPresses ?? 0;
    return presses;
  }

  /** How often an input requested to arm. Hot path. */
  get armPresses(): number {
    let presses = 0;
    for (const { device } of this.#inputs.values()) presses += device.armPresses ?? 0;
    return presses;
  }

  /** How often an input requested to reset a stop. Hot path. */
  get resetPresses(): number {
    let presses = 0;
    for (const { device } of this.#inputs.values()) presses += device.resetPresses ?? 0;
    return presses;
  }

  /** The input that takes these console messages; undefined if the rig has none. */
  deskInput(kind: DeskBytes): InputDevice | undefined {
    return this.#desk[kind];
  }

  /** A message of `device` was accepted. Hot path. */
  received(device: InputDevice, arrivedNs: number): void {
    if (device !== this.#inputs.get(this.#active)!.device) return;
    this.#received = device;
    this.#receivedNs = arrivedNs;
  }

  /** The robot's simulated world was received. */
  see(world: WorldState, task: string): void {
    for (const device of this.#devices) device.see?.(world, task);
  }

  /** How often the record button of any input was pressed. Hot path. */
  get recordPresses(): number {
    if (this.#recorder !== null) return this.#recorder.recordPresses ?? 0;
    let presses = 0;
    for (let i = 0; i < this.#devices.length; i++) presses += this.#devices[i]!.recordPresses ?? 0;
    return presses;
  }

  /** Reception quality of an input, by default the active one. Hot path. */
  quality(nowNs: number, out: InputQuality, name = this.#active): void {
    const { device } = this.#inputs.get(name)!;
    out.from = device.sender?.(nowNs) ?? 0;
    out.jitterNs = Number.NaN;
    if (device.quality !== undefined) device.quality(nowNs, out);
    else out.rateHz = Number.NaN;
  }

  /** Restarts an input that has a beginning, and pulls its first sample. */
  restart(): void {
    const { device } = this.#inputs.get(this.#active)!;
    device.restart?.(this.hand.sampledNs);
    this.#pull(device);
  }

  /** Clears the fields that not every input fills: points, joints, and the sender's stamp. */
  #pull(device: InputDevice): void {
    this.hand.sample.points = 0;
    this.hand.sample.joints = 0;
    this.hand.sample.sentNs = Number.NaN;
    this.hand.sample.source = this.hand.automatic ? 'program' : 'person';
    this.hand.arrivedNs = device === this.#received ? this.#receivedNs : Number.NaN;
    this.hand.status = device.sample(this.hand.sampledNs, this.hand.sample);
    const { usedArrivalNs = Number.NaN } = device;
    if (!Number.isNaN(usedArrivalNs)) this.hand.arrivedNs = usedArrivalNs;
  }

  /** Hot path. */
  tick(nowNs: number): void {
    this.hand.tookOver = false;
    this.hand.sampledNs = nowNs;
    this.#sampleActive();
    if (this.hand.sample.source === 'policy') this.#watch(nowNs);
    this.#sampleShadow(nowNs);
    const { isInterrupted } = this;
    this.hand.isIntervention = isInterrupted && this.hand.sample.source === 'person';
    this.topic.publish(this.hand);
  }

  #sampleActive(): void {
    const input = this.#inputs.get(this.#active)!;
    const { stream = 0 } = input.device;
    if (stream !== this.#stream) this.hand.source++;
    this.#stream = stream;
    this.hand.clutchless = input.clutchless ?? false;
    this.hand.automatic = input.automatic;
    this.#pull(input.device);
    if (this.#clutch !== null && !input.automatic && this.hand.sample.source !== 'policy')
      this.#useClutch(this.#clutch, input);
  }

  /** A clutch that cannot be observed is a lost hand. */
  #useClutch(clutch: OpenInput, input: OpenInput): void {
    const { sample } = this.hand;
    this.hand.clutchless = false;
    if (clutch === input) return;
    const { stream = 0 } = clutch.device;
    if (stream !== this.#clutchStream) this.hand.source++;
    this.#clutchStream = stream;
    const status = clutch.device.sample(this.hand.sampledNs, this.#clutchSample);
    sample.tracking &&= status === 'ok' && this.#clutchSample.tracking;
    sample.clutch = this.#clutchSample.clutch;
    sample.estop ||= this.#clutchSample.estop;
  }

  #watch(nowNs: number): void {
    const taker = this.#takeOver.watch(nowNs);
    if (taker === null) return;
    const interrupted = this.#active;
    this.select(taker);
    this.#takeOver.interrupted = interrupted;
    this.#stream = this.#inputs.get(taker)!.device.stream ?? 0;
    this.hand.tookOver = true;
    this.#sampleActive();
  }

  /** What the policy proposes while somebody else drives. */
  #sampleShadow(nowNs: number): void {
    const { shadow } = this.hand;
    shadow.joints = 0;
    if (this.#policyInput === null || this.#active === POLICY_INPUT) return;
    if (this.#policyInput.sample(nowNs, shadow) !== 'ok' || shadow.source !== 'policy') shadow.joints = 0;
  }
}
