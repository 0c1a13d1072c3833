import { crc16 } from './crc.ts';
import { BROADCAST_ID, HEAD_BYTES, INSTRUCTION, MAX_PACKET_BYTES } from './packets.ts';

/** A whole packet with a good CRC. Reused: valid during the call only. */
export interface DynamixelPacket {
  id: number;
  instruction: number;
  /** Status packets: the error byte; 0 otherwise. In a fast answer each motor has its own, in `params`. */
  error: number;
  /** Without stuffing, and without the error byte. */
  params: Uint8Array;
  paramBytes: number;
}

export interface ParserStats {
  packets: number;
  /** Bytes that belong to no packet. */
  garbageBytes: number;
  badCrc: number;
}

const CAPACITY = 2 * MAX_PACKET_BYTES;
/** Instruction and CRC. */
const MIN_LENGTH = 3;
const MAX_LENGTH = MAX_PACKET_BYTES - HEAD_BYTES;

/**
 * Finds packets in a stream of bytes, however it is cut. Never throws; holds at most 2 kB. After a bad CRC the search
 * goes on behind the header that lied, so a whole packet that follows a torn one is found.
 */
export class PacketParser {
  readonly stats: ParserStats = { packets: 0, garbageBytes: 0, badCrc: 0 };
  readonly #onPacket: (packet: DynamixelPacket) => void;
  readonly #bytes = new Uint8Array(CAPACITY);
  readonly #packet: DynamixelPacket = {
    id: 0,
    instruction: 0,
    error: 0,
    params: new Uint8Array(MAX_PACKET_BYTES),
    paramBytes: 0,
  };
  #start = 0;
  #end = 0;

  constructor(onPacket: (packet: DynamixelPacket) => void) {
    this.#onPacket = onPacket;
  }

  push(bytes: Uint8Array, length = bytes.length): void {
    for (let taken = 0; taken < length; ) {
      if (this.#start > 0) this.#compact();
      const count = Math.min(length - taken, CAPACITY - this.#end);
      for (let i = 0; i < count; i++) this.#bytes[this.#end + i] = bytes[taken + i]!;
      this.#end += count;
      taken += count;
      while (this.#step()) {}
    }
  }

  /** Forgets a packet that began and did not end. */
  reset(): void {
    this.stats.garbageBytes += this.#end - this.#start;
    this.#start = 0;
    this.#end = 0;
  }

  #compact(): void {
    this.#bytes.copyWithin(0, this.#start, this.#end);
    this.#end -= this.#start;
    this.#start = 0;
  }

  /** Takes one packet or throws one byte away; false when more bytes are needed. */
  #step(): boolean {
    const bytes = this.#bytes;
    const start = this.#start;
    const there = this.#end - start;
    if (there === 0) return false;
    if (bytes[start] !== 0xff) return this.#skip();
    if (there > 1 && bytes[start + 1] !== 0xff) return this.#skip();
    if (there > 2 && bytes[start + 2] !== 0xfd) return this.#skip();
    if (there > 3 && bytes[start + 3] !== 0) return this.#skip();
    if (there < HEAD_BYTES) return false;
    const length = bytes[start + 5]! | (bytes[start + 6]! << 8);
    if (length < MIN_LENGTH || length > MAX_LENGTH || bytes[start + 4]! > BROADCAST_ID) return this.#skip();
    const total = HEAD_BYTES + length;
    if (there < total) return false;
    const crcAt = start + total - 2;
    if (crc16(bytes, start, crcAt) !== (bytes[crcAt]! | (bytes[crcAt + 1]! << 8))) {
      this.stats.badCrc++;
      return this.#skip();
    }
    if (!this.#unpack(start, crcAt)) {
      this.stats.badCrc++;
      return this.#skip();
    }
    this.#start += total;
    this.stats.packets++;
    this.#onPacket(this.#packet);
    return true;
  }

  #skip(): boolean {
    this.#start++;
    this.stats.garbageBytes++;
    return true;
  }

  /** False where a status has no error byte. */
  #unpack(start: number, crcAt: number): boolean {
    const bytes = this.#bytes;
    const found = this.#packet;
    found.id = bytes[start + 4]!;
    found.instruction = bytes[start + HEAD_BYTES]!;
    const isStatus = found.instruction === INSTRUCTION.status;
    const isFast = isStatus && found.id === BROADCAST_ID;
    let from = start + HEAD_BYTES + 1;
    found.error = 0;
    if (isStatus && !isFast) {
      if (from >= crcAt) return false;
      found.error = bytes[from]!;
      from++;
    }
    let count = 0;
    for (let i = from; i < crcAt; i++) {
      const byte = bytes[i]!;
      found.params[count++] = byte;
      const ends = byte === 0xfd && bytes[i - 1] === 0xff && bytes[i - 2] === 0xff && i - 2 > start + 6;
      if (ends && !isFast && bytes[i + 1] === 0xfd && i + 1 < crcAt) i++;
    }
    found.paramBytes = count;
    return true;
  }
}
