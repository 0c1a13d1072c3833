import type { z } from 'zod';
import type { Reason } from '../core/counters.ts';
import type { HandSample, SampleStatus } from '../messages/hand-sample.ts';
import type { WorldState } from '../messages/world-state.ts';

/** Bytes in, samples out: an input device owns no socket and no clock, so replay and fuzzing are free. */
export interface InputDevice {
  /**
   * Bytes that arrived for this device; valid only during the call. Null when accepted; a rejection changes
   * no sample. `receivedNs` is the kernel's stamp where available, on the operator's clock. `from` is the
   * sender's host · 65536 + port (`core/ip-hosts.ts`). `socket` indexes the plug-in's
   * `sockets`. Hot path.
   */
  ingest(bytes: Uint8Array, length: number, receivedNs: number, from: number, socket: number): Reason | null;
  /** The newest sample. Fills `out`; `stale` and `none` leave `tracking` false. Hot path. */
  sample(nowNs: number, out: HandSample): SampleStatus;
  /**
   * The bytes of the last `ingest` requested an e-stop, accepted or rejected. The operator forwards it
   * within that call, without waiting for the next tick.
   */
  readonly estop?: boolean;
  /**
   * Increases when someone else may be behind the samples: another sender, or the same after a restart. Their
   * poses are never related to earlier ones.
   */
  readonly stream?: number;
  /** Address and port that it accepts messages from, as in `InputQuality`; 0: none yet. Hot path. */
  sender?(nowNs: number): number;
  /** Reception quality of the sender, for people to read. Fills all of `out`. Hot path. */
  quality?(nowNs: number, out: InputQuality): void;
  /** Presses of its record button, if it has one. Never decreases. */
  readonly recordPresses?: number;
  /** The same for its button that hands the robot back to a policy. */
  readonly handBackPresses?: number;
  /** The same for requests to arm, or to engage again after a hold, and to reset a stop. */
  readonly armPresses?: number;
  readonly resetPresses?: number;
  /** The newest state of the robot's simulated world, for an input that acts in it. Valid only during the call. */
  see?(world: WorldState, task: string): void;
  /** Arrival of the message that the last `sample` is made of, if that is not the newest; NaN: unknown. */
  readonly usedArrivalNs?: number;
  /** Restarts its motion, if it has one. */
  restart?(nowNs: number): void;
}

export interface InputQuality {
  /** Sender's host · 65536 + port; 0: none. */
  from: number;
  /** Messages per second; 0 after a second of silence. */
  rateHz: number;
  /** Interarrival jitter against the sender's own clock, as in RFC 3550; NaN while unknown. */
  jitterNs: number;
  received: number;
  /** Missing messages by the sender's own times: an estimate, where a protocol has no sequence numbers. */
  lost: number;
}

export const emptyQuality = (): InputQuality => ({
  from: 0,
  rateHz: 0,
  jitterNs: Number.NaN,
  received: 0,
  lost: 0,
});

/** A UDP socket that the operator opens in addition to its own, on its control thread. */
export interface InputSocket {
  /** For error messages: "rctp right". */
  name: string;
  /** Address or name to listen on. */
  host: string;
  /** 0 lets the system choose. */
  port: number;
  /** Setting of the port, for the hint when it is in use: `operator.inputs.rctp.rightPort`. */
  portKey: string;
}

/**
 * A ZeroMQ socket whose messages are forwarded, each as one datagram, to a socket of the input: the control
 * thread runs no event loop, so ZeroMQ lives elsewhere in the operator's process. Only the newest message is
 * kept.
 */
export interface InputRelay {
  /** For error messages: "openteach right hand". */
  name: string;
  /** Which of the plug-in's `sockets` it feeds; null: messages are received and dropped. */
  socket: number | null;
  pattern: 'pull' | 'sub';
  /** Prefix of the messages to subscribe to. */
  topic: string;
  /** Bind to the address, or connect to it. */
  bind: boolean;
  host: string;
  port: number;
  /** Setting of the port, for the hint when it is in use. */
  portKey: string;
  /** Converts a message too long for a datagram into a shorter form; null where there is none. */
  shorten?: (bytes: Uint8Array) => Uint8Array | null;
}

/**
 * A device file of Linux's input layer (evdev). The operator reads it outside the control thread and forwards
 * its state, buttons and axes (`codecs/controls-codec.ts`), to a socket of the input: at each change and 50
 * times a second. Nothing is sent while the device is unplugged.
 */
export interface InputFile {
  /** For messages: "pedal". */
  name: string;
  /** The file, or `auto`: the first in /dev/input/by-id that matches. */
  path: string;
  match: RegExp;
  /** Which of the plug-in's `sockets` it feeds. */
  socket: number;
  /** Setting of the path, for messages. */
  key: string;
}

/** Console messages for an input: the page's own hand, and the hands of a headset's page. */
export type DeskBytes = 'hand' | 'hands';

/** Default export of a file in `devices/`; its file name is the name in a rig. */
export interface InputPlugin<C> {
  readonly about: string;
  /** No human behind it: the operator process may engage by itself. */
  readonly automatic: boolean;
  /**
   * There is no clutch to hold: a visible hand counts as a closed clutch. It engages by itself after its own
   * tracking loss; after anything else (e-stop, watchdog, another sender) only once the robot has been
   * re-armed.
   */
  readonly clutchless?: boolean;
  /** Which console message carries its bytes; none if absent. Each is for one input only. */
  readonly desk?: DeskBytes;
  readonly config: z.ZodType<C>;
  /** The sockets it listens on; none if absent. Called before `open`, any number of times. */
  sockets?(config: C): readonly InputSocket[];
  /** ZeroMQ sockets that feed them; none if absent. Called before `open`, any number of times. */
  relays?(config: C): readonly InputRelay[];
  /** Device files that feed them; none if absent. Called before `open`, any number of times. */
  files?(config: C): readonly InputFile[];
  /** `remark` counts notable events other than rejections. */
  open(config: C, nowNs: number, remark?: (reason: Reason) => void): InputDevice;
}
