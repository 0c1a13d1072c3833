import { RecordRing } from '../../core/memory/ring.ts';
import type { WriteResult } from '../driver.ts';

const FIELDS = 3;
/** The control loop hands over at most a few targets between two looks at the results. */
const CAPACITY = 64;

export const createWriteResults = (): SharedArrayBuffer => RecordRing.create(FIELDS, CAPACITY).buffer;

/** Results of writes, from the driver's thread to the control thread. Hot path: nothing waits or allocates. */
export class WriteResults {
  readonly #ring: RecordRing;
  readonly #numbers = new Float64Array(FIELDS);

  constructor(buffer: SharedArrayBuffer) {
    this.#ring = RecordRing.attach(buffer);
  }

  push(number: number, writtenNs: number, isFault: boolean): void {
    this.#numbers[0] = number;
    this.#numbers[1] = writtenNs;
    this.#numbers[2] = isFault ? 1 : 0;
    this.#ring.push(this.#numbers);
  }

  next(out: WriteResult): boolean {
    if (!this.#ring.shift(this.#numbers)) return false;
    out.number = this.#numbers[0]!;
    out.writtenNs = this.#numbers[1]!;
    out.isFault = this.#numbers[2] === 1;
    return true;
  }
}
