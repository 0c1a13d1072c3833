/**
 * Cuts a byte stream into messages that carry their length. Holds at most one unfinished message, so a peer cannot
 * make it grow; a length outside its bounds means the stream can no longer be followed.
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

  /** Forgets an unfinished message: a new connection begins at a message. */
  restart(): void {
    this.#heldBytes = 0;
  }

  /**
   * Hands over each whole message as a slice of a buffer that is only valid during the call; `take` returns false to
   * end early. False when a length was out of bounds: the connection is of no use any more.
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

  /** Bytes the held message still lacks; of an unfinished head, those of the head. −1 when its length is nonsense. */
  #wanted(): number {
    if (this.#heldBytes < this.#headBytes) return this.#headBytes - this.#heldBytes;
    const total = this.#totalBytes(this.#held, 0);
    return this.#isLength(total) ? total - this.#heldBytes : -1;
  }
}
