import type { ServoPacket, ServoProtocol } from './servo-protocol.ts';

export interface ParserStats {
  packets: number;
  /** Bytes that belong to no packet. */
  garbageBytes: number;
  badChecksum: number;
}

/**
 * Finds packets in a byte stream, however it is split. Never throws; holds at most two packets. After a bad
 * checksum the search resumes right after that header, so a packet that follows a truncated one is found. Hot
 * path.
 */
export class PacketParser {
  readonly stats: ParserStats = { packets: 0, garbageBytes: 0, badChecksum: 0 };
  readonly #protocol: ServoProtocol;
  readonly #onPacket: (packet: ServoPacket) => void;
  readonly #bytes: Uint8Array;
  readonly #packet: ServoPacket;
  #start = 0;
  #end = 0;

  constructor(protocol: ServoProtocol, onPacket: (packet: ServoPacket) => void) {
    this.#protocol = protocol;
    this.#onPacket = onPacket;
    this.#bytes = new Uint8Array(2 * protocol.maxPacketBytes);
    this.#packet = {
      id: 0,
      instruction: 0,
      error: 0,
      params: new Uint8Array(protocol.maxPacketBytes),
      paramBytes: 0,
      wire: this.#bytes,
      wireAt: 0,
      wireBytes: 0,
    };
  }

  push(bytes: Uint8Array, length = bytes.length): void {
    for (let taken = 0; taken < length; ) {
      if (this.#start > 0) this.#compact();
      const count = Math.min(length - taken, this.#bytes.length - this.#end);
      for (let i = 0; i < count; i++) this.#bytes[this.#end + i] = bytes[taken + i]!;
      this.#end += count;
      taken += count;
      while (this.#step()) {}
    }
  }

  /** Drops an unfinished packet. */
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

  /** Takes one packet or drops one byte; false when more bytes are needed. */
  #step(): boolean {
    const start = this.#start;
    if (this.#end === start) return false;
    const length = this.#protocol.lengthAt(this.#bytes, start, this.#end);
    if (length < 0) return this.#skip();
    if (length === 0 || this.#end - start < length) return false;
    const packet = this.#packet;
    if (!this.#protocol.decode(this.#bytes, start, length, packet)) {
      this.stats.badChecksum++;
      return this.#skip();
    }
    packet.wireAt = start;
    packet.wireBytes = length;
    this.#start += length;
    this.stats.packets++;
    this.#onPacket(packet);
    return true;
  }

  #skip(): boolean {
    this.#start++;
    this.stats.garbageBytes++;
    return true;
  }
}
