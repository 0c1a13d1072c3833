/** Every failed operation a user can see. `docs/troubleshooting.md` has one entry per code. */
export type ErrorCode =
  | 'bad-config'
  | 'bad-dataset'
  | 'bad-episode'
  | 'bad-model'
  | 'bad-option'
  | 'bad-plugin'
  | 'build-missing'
  | 'bus-failed'
  | 'camera-failed'
  | 'child-failed'
  | 'encoder-failed'
  | 'file-missing'
  | 'file-unreadable'
  | 'file-unwritable'
  | 'fleet-outdated'
  | 'fleet-refused'
  | 'fleet-unreachable'
  | 'key-exposed'
  | 'key-missing'
  | 'lease-held'
  | 'model-mismatch'
  | 'name-unresolved'
  | 'native-unavailable'
  | 'no-hand'
  | 'no-trace'
  | 'not-calibrated'
  | 'not-confirmed'
  | 'not-loopback'
  | 'pairing-failed'
  | 'policy-failed'
  | 'port-in-use'
  | 'recording-stopped'
  | 'replay-stopped'
  | 'robot-silent'
  | 'robot-unreachable'
  | 'server-unsafe'
  | 'socket-failed'
  | 'sound-failed'
  | 'transfer-failed'
  | 'unknown-plugin';

export interface TeleopErrorOptions {
  /** What to do next, as an imperative sentence. */
  hint: string;
  cause?: unknown;
}

/** A failed operation with its remedy. Bad data from outside is never an exception: it is a counted reason. */
export class TeleopError extends Error {
  override readonly name = 'TeleopError';
  readonly code: ErrorCode;
  readonly hint: string;

  constructor(code: ErrorCode, message: string, options: TeleopErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
  }
}
