import { openPty, type Pty } from '../../src/robot/buses/pty.ts';

const TABLE_BYTES = 128;
const BROADCAST_ID = 0xfe;
const TICK_MS = 1;

/**
 * Feetech servos on a pseudo-terminal. They implement the protocol independently, so that an error in our
 * codec is not on both ends.
 */
export class FeetechServos {
  readonly tables = new Map<number, Uint8Array>();
  /** Error byte of the replies. */
  error = 0;
  /** The adapter echoes what it receives. */
  echo = false;
  /** They take nothing yet: what was asked meanwhile is answered later, in order. */
  areLate = false;
  /** Instructions in order of arrival: `code id`. */
  readonly seen: string[] = [];
  readonly #pty: Pty;
  readonly #timer: NodeJS.Timeout;
  #buffer = Buffer.alloc(0);
  #closed = false;

  private constructor(pty: Pty, ids: readonly number[]) {
    this.#pty = pty;
    for (const id of ids) this.tables.set(id, new Uint8Array(TABLE_BYTES));
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  static async start(ids: readonly number[]): Promise<FeetechServos> {
    return new FeetechServos(await openPty(), ids);
  }

  get port(): string {
    return this.#pty.path;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    this.#pty.close();
  }

  #tick(): void {
    if (this.areLate) return;
    const bytes = new Uint8Array(4096);
    const count = this.#pty.read(bytes);
    if (count === 0) return;
    if (this.echo) this.#pty.write(bytes, count);
    this.#buffer = Buffer.concat([this.#buffer, bytes.subarray(0, count)]);
    for (;;) {
      const at = this.#buffer.indexOf(Uint8Array.of(0xff, 0xff));
      const end = at + 4 + (this.#buffer[at + 3] ?? Number.NaN);
      if (at < 0 || !(end <= this.#buffer.length)) return;
      this.#take(this.#buffer.subarray(at + 2, end));
      this.#buffer = this.#buffer.subarray(end);
    }
  }

  /** `id | length | instruction | parameters | checksum` */
  #take(body: Buffer): void {
    const sum = body.reduce((total, byte) => total + byte, 0) & 0xff;
    if (sum !== 0xff) return;
    const [id = 0, , instruction = 0, address = 0, size = 0] = body;
    const params = body.subarray(3, -1);
    this.seen.push(`${instruction} ${id}`);
    if (instruction === 0x82) for (const each of params.subarray(2)) this.#read(each, address, size);
    else if (instruction === 0x83)
      for (let at = 2; at < params.length; at += size + 1)
        this.tables.get(params[at]!)?.set(params.subarray(at + 1, at + 1 + size), address);
    else if (instruction === 1) this.#answer(id, []);
    else if (instruction === 2) this.#read(id, address, size);
    else if (instruction === 3) {
      this.tables.get(id)?.set(params.subarray(1), address);
      this.#answer(id, []);
    }
  }

  #read(id: number, address: number, size: number): void {
    this.#answer(id, this.tables.get(id)?.subarray(address, address + size) ?? []);
  }

  #answer(id: number, data: Iterable<number>): void {
    if (id === BROADCAST_ID || !this.tables.has(id)) return;
    const body = [id, [...data].length + 2, this.error, ...data];
    const sum = body.reduce((total, byte) => total + byte, 0) & 0xff;
    const bytes = Uint8Array.of(0xff, 0xff, ...body, 0xff - sum);
    this.#pty.write(bytes, bytes.length);
  }
}
