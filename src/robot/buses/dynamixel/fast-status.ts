/** Error, id and CRC around each motor's data. */
const FRAME_BYTES = 4;

/**
 * Parses a fast reply: error, id, data and CRC of each motor, in request order; the last CRC is the packet's.
 */
export class FastStatus {
  readonly #ids: readonly number[];
  readonly #size: number;
  readonly #onAnswer: (id: number, error: number, bytes: Uint8Array, at: number) => void;

  constructor(
    ids: readonly number[],
    size: number,
    onAnswer: (id: number, error: number, bytes: Uint8Array, at: number) => void,
  ) {
    this.#ids = ids;
    this.#size = size;
    this.#onAnswer = onAnswer;
  }

  /** Returns how many replies it held: all or none. Hot path. */
  take(params: Uint8Array, paramBytes: number): number {
    const step = this.#size + FRAME_BYTES;
    if (paramBytes !== this.#ids.length * step - 2) return 0;
    for (let i = 0; i < this.#ids.length; i++) if (params[i * step + 1] !== this.#ids[i]) return 0;
    for (let i = 0; i < this.#ids.length; i++)
      this.#onAnswer(this.#ids[i]!, params[i * step]!, params, i * step + 2);
    return this.#ids.length;
  }
}
