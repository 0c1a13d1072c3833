import { DYNAMIXEL_2 } from '../../src/robot/buses/dynamixel/dynamixel-2.ts';
import type { Pty } from '../../src/robot/buses/pty.ts';
import { PacketParser } from '../../src/robot/buses/servo/packet-parser.ts';
import type { SimHand } from './hand.ts';
import { Responder } from './responder.ts';

const BUFFER_BYTES = 64 * 1024;
const STEP_S = 1e-3;
/** After a stall the motors catch up by at most this much. */
const MAX_CATCH_UP_MS = 50;

export interface SimulationOptions {
  /** The adapter echoes what the host sends. */
  echo?: boolean;
  /** Noise around every n-th reply, and fragmented replies; 0 or absent: none. */
  noiseEvery?: number;
  /** One in n packets from the host is lost at random; repeatable. */
  lossEvery?: number;
}

/** Motors on a pseudo-terminal. `tick` does what is due: packets in, motion, replies out. */
export class OrcaSimulation {
  readonly hand: SimHand;
  readonly parser: PacketParser;
  readonly #pty: Pty;
  readonly #options: SimulationOptions;
  readonly #in = new Uint8Array(BUFFER_BYTES);
  readonly #out = new Uint8Array(BUFFER_BYTES);
  #outBytes = 0;
  #atMs: number | null = null;
  #nowMs = 0;
  #answers = 0;
  #seed = 1;
  /** No motor on the bus replies. */
  silent = false;
  /** Called with all bytes from the host. */
  onBytes: (bytes: Uint8Array) => void = () => {};

  constructor(pty: Pty, hand: SimHand, options: SimulationOptions = {}) {
    this.#pty = pty;
    this.hand = hand;
    this.#options = options;
    const responder = new Responder(hand.motors);
    this.parser = new PacketParser(DYNAMIXEL_2, (packet) => {
      if (options.lossEvery && this.#chance() < 1 / options.lossEvery) return;
      for (const answer of responder.answersTo(packet, this.#nowMs)) if (!this.silent) this.#answer(answer);
    });
  }

  tick(nowMs: number): void {
    this.#nowMs = nowMs;
    const passedMs = Math.min(MAX_CATCH_UP_MS, nowMs - (this.#atMs ?? nowMs));
    const steps = Math.floor(passedMs);
    for (let i = 0; i < steps; i++) this.hand.step(STEP_S, nowMs);
    this.#atMs = nowMs - (passedMs - steps);
    const bytes = this.#pty.read(this.#in);
    if (bytes > 0) {
      const came = this.#in.subarray(0, bytes);
      this.onBytes(came);
      if (this.#options.echo) this.#put(came);
      this.parser.push(came);
    }
    this.#flush();
  }

  #chance(): number {
    this.#seed = (Math.imul(this.#seed, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#seed / 2 ** 32;
  }

  #answer(bytes: Uint8Array): void {
    const { noiseEvery = 0 } = this.#options;
    const noisy = noiseEvery > 0 && ++this.#answers % noiseEvery === 0;
    if (noisy) this.#put(Uint8Array.of(0xff, 0xff, 0xfd, 0, 3, 0x55, 0xff));
    this.#put(bytes);
    if (noisy) this.#put(Uint8Array.of(0xff, 0xff));
  }

  #put(bytes: Uint8Array): void {
    if (this.#outBytes + bytes.length > BUFFER_BYTES) return;
    this.#out.set(bytes, this.#outBytes);
    this.#outBytes += bytes.length;
  }

  /** With noise: fragmented, the rest in the next tick. */
  #flush(): void {
    if (this.#outBytes === 0) return;
    const piece = this.#options.noiseEvery ? Math.min(this.#outBytes, 97) : this.#outBytes;
    const written = this.#pty.write(this.#out, piece);
    this.#out.copyWithin(0, written, this.#outBytes);
    this.#outBytes -= written;
  }
}
