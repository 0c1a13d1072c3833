const REPLY = /^\s*(ack|nack|\?|([A-Z]{3}) (-?\d{1,6}))/;
const MAX_HELD = 256;

/** `value` is NaN for an acknowledgement. */
export type UrcapReply = { ok: boolean; name: string; value: number };

/**
 * Cuts replies of the URCap's socket: `ack` after a SET, `POS 12` after a GET. Nothing marks a reply's end, so a number
 * at the end of the bytes may go on: it counts once `settled` is called.
 */
export class UrcapReplies {
  malformed = 0;
  #held = '';

  restart(): void {
    this.#held = '';
  }

  push(chunk: Uint8Array, take: (reply: UrcapReply) => void): void {
    this.#held += Buffer.from(chunk).toString('latin1');
    if (this.#held.length > MAX_HELD) {
      this.malformed++;
      this.#held = '';
    }
    this.#cut(take, false);
  }

  /** No more bytes came for a while. */
  settled(take: (reply: UrcapReply) => void): void {
    this.#cut(take, true);
    if (this.#held.trim() !== '') this.malformed++;
    this.#held = '';
  }

  get isHolding(): boolean {
    return this.#held.trim() !== '';
  }

  #cut(take: (reply: UrcapReply) => void, isSettled: boolean): void {
    for (;;) {
      const found = REPLY.exec(this.#held);
      if (found === null) return;
      const [text, word = '', name = '', digits = ''] = found;
      if (name !== '' && text.length === this.#held.length && !isSettled) return;
      this.#held = this.#held.slice(text.length);
      take({ ok: word === 'ack' || name !== '', name, value: name === '' ? Number.NaN : Number(digits) });
    }
  }
}
