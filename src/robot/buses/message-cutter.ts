/**
 * Cuts a byte stream into length-prefixed messages. Holds at most one unfinished message, so a peer cannot
 * make it grow; a length out of bounds means the stream can no longer be parsed.
 */
export class MessageCutter {
  readonly #headBytes: number;
  readonly #totalBytes: (bytes: Buffer, at: number) => number;
  readonly #held: Buffer;
  #heldBytes = 0;

  /** `totalBytes` reads the length of a whole message, head included, from its first `headBytes` bytes. */
  constructor(headBytes: number, maxBytes: number, totalBytes: (bytes: Buffer, at: number) => number) {
    this.#headBytes = headBytes;
    this.#totalBytes = totalBytes;
    this.#held = Buffer.alloc(maxBytes);
  }

  /** Drops an unfinished message: a new connection starts at a message boundary. */
  restart(): void {
    this.#heldBytes = 0;
  }

  /**
   * Delivers each whole message as a slice that is valid only during the call; `take` returns false to stop
   * early. Returns false when a length was out of bounds: drop the connection.
   */
  push(chunk: Buffer, take: (message: Buffer) => boolean): boolean {
    let at = 0;
    while (at < chunk.length) {
      if (this.#heldBytes === 0 && chunk.length - at >= this.#headBytes) {
        const total = this.#totalBytes(chunk, at);
        if (!this.#isLength(total)) return false;
        if (chunk.length - at >= total) {
          if (!take(chunk.subarray(at, at + total))) return true;
          at += total;
          continue;
        }
      }
      const wanted = this.#wanted();
      if (wanted < 0) return false;
      const part = Math.min(wanted, chunk.length - at);
      chunk.copy(this.#held, this.#heldBytes, at, at + part);
      this.#heldBytes += part;
      at += part;
      if (this.#wanted() < 0) return false;
      if (this.#wanted() > 0) continue;
      const message = this.#held.subarray(0, this.#heldBytes);
      this.#heldBytes = 0;
      if (!take(message)) return true;
    }
    return true;
  }

  #isLength(total: number): boolean {
    return total >= this.#headBytes && total <= this.#held.length;
  }

  /** Bytes missing from the held message, or from its head if that is incomplete. −1 on an invalid length. */
  #wanted(): number {
    if (this.#heldBytes < this.#headBytes) return this.#headBytes - this.#heldBytes;
    const total = this.#totalBytes(this.#held, 0);
    return this.#isLength(total) ? total - this.#heldBytes : -1;
  }
}
