import type { Reason } from '../core/counters.ts';
import type { PlayoutRequest } from '../messages/playout-request.ts';
import { decodeHello, decodeOutageHold, decodePlayoutRequest, NO_REQUEST } from '../wire/codecs/desk.ts';

const MAX_BYTES = 256;

/**
 * What a hello says. An operator repeats it five times a second, and the same bytes say the same: only another hello is
 * parsed. Hot path: nothing allocates for a repeated one.
 */
export class OperatorHello {
  /** NaN if it has none. */
  session = Number.NaN;
  /** What is wrong with the rest; null: nothing. */
  malformed: Reason | null = null;
  /** How long the robot should hold after an outage before it stops. */
  outageHoldS = 0;
  readonly request: PlayoutRequest = { ...NO_REQUEST };
  readonly #bytes = new Uint8Array(MAX_BYTES);
  #length = 0;

  read(bytes: Uint8Array, length: number): void {
    if (this.#isRepeated(bytes, length)) return;
    this.#length = length <= MAX_BYTES ? length : 0;
    for (let i = 0; i < this.#length; i++) this.#bytes[i] = bytes[i]!;
    this.session = decodeHello(bytes, length);
    this.outageHoldS = decodeOutageHold(bytes, length);
    const malformed = decodePlayoutRequest(bytes, length, this.request);
    this.malformed = Number.isNaN(this.outageHoldS) ? 'malformed' : malformed;
  }

  #isRepeated(bytes: Uint8Array, length: number): boolean {
    if (length === 0 || length !== this.#length) return false;
    for (let i = 0; i < length; i++) if (bytes[i] !== this.#bytes[i]) return false;
    return true;
  }
}
