import type { Clock } from '../../../core/time/clock.ts';
import { MessageCutter } from '../../buses/message-cutter.ts';
import { TcpLink } from '../../buses/tcp-link.ts';
import {
  dataPackage,
  decodeReply,
  encodeControlVersionRequest,
  encodeSetupInputs,
  encodeSetupOutputs,
  encodeStart,
  encodeVersionRequest,
  RTDE,
  RTDE_HEAD_BYTES,
  RTDE_MAX_BYTES,
  RTDE_VALUES_AT,
  type RtdeReply,
  recipeLayout,
  rtdeTotalBytes,
} from './rtde-codec.ts';
import { SenderClock } from './sender-clock.ts';

const OUTPUTS = [
  ['timestamp', 'DOUBLE'],
  ['actual_q', 'VECTOR6D'],
  ['actual_qd', 'VECTOR6D'],
  ['actual_current', 'VECTOR6D'],
  ['actual_TCP_force', 'VECTOR6D'],
  ['robot_mode', 'INT32'],
  ['safety_mode', 'INT32'],
  ['runtime_state', 'UINT32'],
  ['robot_status_bits', 'UINT32'],
  ['safety_status_bits', 'UINT32'],
] as const;
/** The two bytes of a tool output; empty without a tool. */
const TOOL_INPUTS = ['tool_digital_output_mask', 'tool_digital_output'] as const;
const SILENCE_MS = 500;
const NS_PER_S = 1e9;

/** The newest state of the controller, filled in place. */
export interface RtdeState {
  /** When the values were measured, on our clock. NaN before the first. */
  atNs: number;
  actualQ: Float64Array;
  actualQd: Float64Array;
  actualCurrentA: Float64Array;
  /** Force and torque on the tool from outside, as the controller estimates them, in the base frame. */
  tcpForce: Float64Array;
  robotMode: number;
  safetyMode: number;
  runtimeState: number;
  robotStatusBits: number;
  safetyStatusBits: number;
}

export interface RtdeEvents {
  state(state: RtdeState): void;
  down(why: string): void;
}

export interface RtdeOptions {
  host: string;
  port: number;
  hz: number;
  /** Whether we drive the tool's digital outputs. */
  toolOutput: boolean;
}

type Phase = 'closed' | 'version' | 'controlVersion' | 'outputs' | 'inputs' | 'start' | 'data';

/** Keeps a controller's state stream running: handshake, recipes, start; repeated after each loss. */
export class RtdeClient {
  readonly state: RtdeState = {
    atNs: Number.NaN,
    actualQ: new Float64Array(6),
    actualQd: new Float64Array(6),
    actualCurrentA: new Float64Array(6),
    tcpForce: new Float64Array(6),
    robotMode: -1,
    safetyMode: 0,
    runtimeState: 0,
    robotStatusBits: 0,
    safetyStatusBits: 0,
  };
  readonly #options: RtdeOptions;
  readonly #clock: Clock;
  readonly #events: RtdeEvents;
  readonly #cutter = new MessageCutter(RTDE_HEAD_BYTES, RTDE_MAX_BYTES, rtdeTotalBytes);
  readonly #stamps = new SenderClock();
  readonly #link: TcpLink;
  readonly #take = (message: Buffer): boolean => this.#accept(message);
  #phase: Phase = 'closed';
  /** This connection has delivered a state. */
  #seen = false;
  #recipe = 0;
  #dataBytes = 0;
  #toolPackage: Buffer | null = null;
  /** Messages that the protocol does not allow at that point. */
  malformed = 0;
  majorVersion = 0;

  constructor(options: RtdeOptions, clock: Clock, events: RtdeEvents) {
    this.#options = options;
    this.#clock = clock;
    this.#events = events;
    this.#link = new TcpLink(
      { host: options.host, port: options.port, silenceMs: SILENCE_MS },
      {
        up: () => this.#begin(),
        bytes: (chunk) => this.#feed(chunk),
        down: (why) => this.#ended(why),
      },
    );
  }

  /** State messages are arriving. */
  get streaming(): boolean {
    return this.#phase === 'data' && this.#seen;
  }

  get localAddress(): string {
    return this.#link.localAddress;
  }

  /** Sets tool output `index`. Hot path. False if it could not be sent. */
  setToolOutput(index: number, on: boolean): boolean {
    const bytes = this.#toolPackage;
    if (bytes === null || !this.streaming || !this.#link.clear) return false;
    bytes[RTDE_VALUES_AT] = 1 << index;
    bytes[RTDE_VALUES_AT + 1] = on ? 1 << index : 0;
    return this.#link.send(bytes);
  }

  dispose(): void {
    this.#phase = 'closed';
    this.#link.dispose();
  }

  #begin(): void {
    this.#cutter.restart();
    this.#stamps.restart();
    this.#seen = false;
    this.#phase = 'version';
    this.#link.send(encodeVersionRequest(2));
  }

  #feed(chunk: Buffer): void {
    if (this.#cutter.push(chunk, this.#take)) return;
    this.malformed++;
    this.#link.drop('RTDE message with an impossible length');
  }

  #ended(why: string): void {
    this.#phase = 'closed';
    this.#toolPackage = null;
    this.#events.down(why);
  }

  /** False once the connection is dropped: skip the rest of the chunk. */
  #accept(message: Buffer): boolean {
    if (message[2] === RTDE.data) {
      if (this.#phase === 'data' && message.length === this.#dataBytes && message[3] === this.#recipe)
        this.#readState(message);
      else this.malformed++;
      return true;
    }
    const reply = decodeReply(message);
    if (reply === null) this.malformed++;
    else if (reply.type !== 'text') this.#proceed(reply);
    return this.#phase !== 'closed';
  }

  #proceed(reply: RtdeReply): void {
    if (reply.type !== this.#phase) {
      this.malformed++;
      return;
    }
    if (reply.type === 'version') this.#afterVersion(reply.accepted);
    else if (reply.type === 'controlVersion') this.#afterControlVersion(reply.major);
    else if (reply.type === 'outputs') this.#afterOutputs(reply.recipe, reply.types);
    else if (reply.type === 'inputs') this.#afterInputs(reply.recipe, reply.types);
    else if (reply.type === 'start') {
      if (reply.accepted) this.#phase = 'data';
      else this.#link.drop('the controller rejected the RTDE start');
    }
  }

  #afterVersion(accepted: boolean): void {
    if (!accepted) return this.#link.drop('the controller does not support RTDE version 2');
    this.#phase = 'controlVersion';
    this.#link.send(encodeControlVersionRequest());
  }

  #afterControlVersion(major: number): void {
    this.majorVersion = major;
    this.#phase = 'outputs';
    const names = OUTPUTS.map(([name]) => name);
    this.#link.send(encodeSetupOutputs(this.#options.hz, names));
  }

  #afterOutputs(recipe: number, types: readonly string[]): void {
    const wrong = OUTPUTS.find(([, type], i) => types[i] !== type);
    if (wrong !== undefined || types.length !== OUTPUTS.length)
      return this.#link.drop(`the controller does not offer ${wrong?.[0] ?? 'the requested outputs'}`);
    this.#recipe = recipe;
    this.#dataBytes = recipeLayout(types)!.bytes;
    this.#phase = this.#options.toolOutput ? 'inputs' : 'start';
    this.#link.send(this.#options.toolOutput ? encodeSetupInputs(TOOL_INPUTS) : encodeStart());
  }

  #afterInputs(recipe: number, types: readonly string[]): void {
    if (recipe === 0 || types.some((type) => type !== 'UINT8')) {
      const why = types.includes('IN_USE') ? 'another program uses them' : types.join(', ');
      return this.#link.drop(`the tool outputs are not available: ${why}`);
    }
    this.#toolPackage = dataPackage(recipe, types.length);
    this.#phase = 'start';
    this.#link.send(encodeStart());
  }

  /** Values in the order of OUTPUTS. Hot path. */
  #readState(bytes: Buffer): void {
    const { state } = this;
    let at = RTDE_VALUES_AT;
    const stampNs = bytes.readDoubleBE(at) * NS_PER_S;
    for (let i = 0; i < 6; i++) {
      const q = bytes.readDoubleBE(at + 8 + 8 * i);
      const qd = bytes.readDoubleBE(at + 56 + 8 * i);
      if (!Number.isFinite(q) || !Number.isFinite(qd)) {
        this.malformed++;
        return;
      }
    }
    for (let i = 0; i < 6; i++) {
      state.actualQ[i] = bytes.readDoubleBE(at + 8 + 8 * i);
      state.actualQd[i] = bytes.readDoubleBE(at + 56 + 8 * i);
      state.actualCurrentA[i] = bytes.readDoubleBE(at + 104 + 8 * i);
      state.tcpForce[i] = bytes.readDoubleBE(at + 152 + 8 * i);
    }
    at += 200;
    state.robotMode = bytes.readInt32BE(at);
    state.safetyMode = bytes.readInt32BE(at + 4);
    state.runtimeState = bytes.readUInt32BE(at + 8);
    state.robotStatusBits = bytes.readUInt32BE(at + 12);
    state.safetyStatusBits = bytes.readUInt32BE(at + 16);
    const receivedNs = this.#clock.nowNs();
    state.atNs = Number.isFinite(stampNs) ? this.#stamps.place(stampNs, receivedNs) : receivedNs;
    this.#seen = true;
    this.#events.state(state);
  }
}
