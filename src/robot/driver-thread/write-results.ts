import { RecordRing } from '../../core/memory/ring.ts';
import { flag, number, struct } from '../../core/memory/struct-layout.ts';
import type { WriteResult } from '../driver.ts';

const RESULT = struct({ number, writtenNs: number, isFault: flag });
/** The control loop hands over at most a few targets between two reads of the results. */
const CAPACITY = 64;

export const createWriteResults = (): SharedArrayBuffer => RecordRing.create(RESULT.size(), CAPACITY).buffer;

/** Results of writes, from the driver thread to the control thread. Hot path: nothing waits or allocates. */
export class WriteResults {
  readonly #ring: RecordRing;
  readonly #result = RESULT.create();

  constructor(buffer: SharedArrayBuffer) {
    this.#ring = RecordRing.attach(buffer);
  }

  push(place: number, writtenNs: number, isFault: boolean): void {
    this.#result.number = place;
    this.#result.writtenNs = writtenNs;
    this.#result.isFault = isFault;
    this.#ring.push(this.#result.packed);
  }

  next(out: WriteResult): boolean {
    if (!this.#ring.shift(this.#result.packed)) return false;
    out.number = this.#result.number;
    out.writtenNs = this.#result.writtenNs;
    out.isFault = this.#result.isFault;
    return true;
  }
}
