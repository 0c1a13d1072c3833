import type { z } from 'zod';
import type { Reason } from '../core/counters.ts';
import type { HandSample, SampleStatus } from '../messages/hand-sample.ts';

/** Bytes in, samples out: an input device owns no socket and no clock, so replay and fuzzing are free. */
export interface InputDevice {
  /**
   * Bytes that arrived for this device; valid only during the call. Null when they were taken; a refusal changes no
   * sample. `receivedNs` is the kernel's stamp where there is one, on the operator's clock. `from` is the sender's IPv4
   * address · 65536 + port, 0 for this machine's console. `socket` counts the plug-in's `sockets`. Hot path.
   */
  ingest(bytes: Uint8Array, length: number, receivedNs: number, from: number, socket: number): Reason | null;
  /** The newest sample. Fills `out`; `stale` and `none` leave `tracking` false. Hot path. */
  sample(nowNs: number, out: HandSample): SampleStatus;
  /**
   * The bytes of the last `ingest` asked for an e-stop, whether they were taken or refused. The operator passes it on
   * within that call and does not wait for the next tick.
   */
  readonly estop?: boolean;
  /**
   * Grows when someone else may be behind the samples: another sender, or the same after a restart. Their poses are
   * never related to the earlier ones.
   */
  readonly stream?: number;
  /** Address and port that it accepts messages from, as in `InputQuality`; 0: nobody yet. Hot path. */
  sender?(nowNs: number): number;
  /** How well the sender is heard, for people to read. Fills all of `out`. Hot path. */
  quality?(nowNs: number, out: InputQuality): void;
  /** How often its button that begins and ends a recording was pressed, where it has one. Only ever grows. */
  readonly recordPresses?: number;
  /** Goes back to the beginning of its motion, where it has one. */
  restart?(nowNs: number): void;
}

export interface InputQuality {
  /** Sender's IPv4 address · 65536 + port; 0: nobody. */
  from: number;
  /** Messages per second; 0 after a second of silence. */
  rateHz: number;
  /** Interarrival jitter against the sender's own clock, as in RFC 3550; NaN while unknown. */
  jitterNs: number;
  received: number;
  /** Messages missing by the sender's own times: an estimate, where a protocol has no numbers. */
  lost: number;
}

export const emptyQuality = (): InputQuality => ({
  from: 0,
  rateHz: 0,
  jitterNs: Number.NaN,
  received: 0,
  lost: 0,
});

/** A UDP socket that the operator opens beside its own, on its control thread. */
export interface InputSocket {
  /** For messages: "rctp right". */
  name: string;
  /** IPv4 address to listen on. */
  host: string;
  /** 0 lets the system choose. */
  port: number;
  /** Setting that changes the port, for the hint when it is taken: `operator.inputs.rctp.rightPort`. */
  portKey: string;
}

/**
 * A ZeroMQ socket whose messages are handed on, each as one datagram, to a socket of the input: the control thread
 * does not turn an event loop, so that ZeroMQ lives elsewhere in the operator's process. Only the newest message waits.
 */
export interface InputRelay {
  /** For messages: "openteach right hand". */
  name: string;
  /** Which of the plug-in's `sockets` it feeds; null: messages are taken off the sender and dropped. */
  socket: number | null;
  pattern: 'pull' | 'sub';
  /** Prefix of the messages wanted from a publisher. */
  topic: string;
  /** Bind to the address, or connect to it. */
  bind: boolean;
  host: string;
  port: number;
  /** Setting that changes the port, for the hint when it is taken. */
  portKey: string;
  /** The same in fewer bytes, for messages that do not fit a datagram; null where there is no such thing. */
  shorten?: (bytes: Uint8Array) => Uint8Array | null;
}

/** Messages of the console that are for an input: the page's own hand, and the hands of a headset's page. */
export type DeskBytes = 'hand' | 'hands';

/** What a file in `devices/` exports by default; its file name is the name in a rig. */
export interface InputPlugin<C> {
  readonly about: string;
  /** No human behind it: the operator process may engage by itself. */
  readonly automatic: boolean;
  /**
   * There is no clutch to hold: a hand that is seen counts as a closed one. It engages by itself after a loss of its
   * own; after anything else (e-stop, watchdog, another sender) only once the robot has been armed anew.
   */
  readonly clutchless?: boolean;
  /** Which message of this machine's console carries its bytes; none without this. One input takes each. */
  readonly desk?: DeskBytes;
  readonly config: z.ZodType<C>;
  /** The sockets it listens on; none without this. Called before `open`, any number of times. */
  sockets?(config: C): readonly InputSocket[];
  /** ZeroMQ sockets that feed them; none without this. Called before `open`, any number of times. */
  relays?(config: C): readonly InputRelay[];
  /** `remark` counts what is worth knowing though nothing was refused. */
  open(config: C, nowNs: number, remark?: (reason: Reason) => void): InputDevice;
}
