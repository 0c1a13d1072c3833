const WORDS = 64;
/** One word fewer than allocated: the newest word is still filling. */
const SIZE = (WORDS - 1) * 32;

/** Tracks which of the last 2016 counters were seen: late and reordered packets pass once, replays never. */
export class ReplayWindow {
  readonly #seen = new Uint32Array(WORDS);
  #newest = -1;

  /** Cheap test before decryption. */
  isFresh(counter: number): boolean {
    if (counter > this.#newest) return true;
    if (this.#newest - counter >= SIZE) return false;
    return (this.#seen[Math.floor(counter / 32) % WORDS]! & (1 << (counter % 32))) === 0;
  }

  /** Call only for the counter of an authentic packet. */
  mark(counter: number): void {
    if (counter > this.#newest) {
      const firstWord = Math.floor(this.#newest / 32) + 1;
      const lastWord = Math.floor(counter / 32);
      for (let word = Math.max(firstWord, lastWord - WORDS + 1); word <= lastWord; word++)
        this.#seen[word % WORDS] = 0;
      this.#newest = counter;
    }
    const word = Math.floor(counter / 32) % WORDS;
    this.#seen[word] = this.#seen[word]! | (1 << (counter % 32));
  }
}
