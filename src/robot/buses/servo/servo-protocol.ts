/** A register of a servo: address and size in bytes. */
export interface Register {
  readonly address: number;
  readonly size: 1 | 2 | 4;
}

/** A complete packet with a valid checksum. Reused: valid only during the call. */
export interface ServoPacket {
  id: number;
  instruction: number;
  /** Error byte of a status packet; 0 in instructions, if the protocol distinguishes them. */
  error: number;
  /** Without stuffing, and without the error byte. */
  params: Uint8Array;
  paramBytes: number;
  /** The raw packet: `wireBytes` of `wire`, from `wireAt` on. */
  wire: Uint8Array;
  wireAt: number;
  wireBytes: number;
}

/** What differs between servo vendors on a half-duplex line. Data and pure functions, no state. */
export interface ServoProtocol {
  readonly name: string;
  /** Instruction codes; null if unsupported: the servos are then read one by one. */
  readonly ping: number;
  readonly read: number;
  readonly write: number;
  readonly syncWrite: number;
  readonly syncRead: number | null;
  readonly bulkRead: number | null;
  /**
   * The code that marks a status packet. Null if nothing marks it and the error byte replaces the
   * instruction: the bus then recognises an echo by comparing it with what it sent.
   */
  readonly status: number | null;
  readonly broadcastId: number;
  /** Bytes of an address or a size among the parameters; little-endian. */
  readonly addressBytes: 1 | 2;
  /** Of register values. */
  readonly isLittleEndian: boolean;
  readonly maxPacketBytes: number;
  /** A status packet without data. */
  readonly statusBytes: number;
  /** Data bytes in a ping reply. */
  readonly pingDataBytes: number;
  /** Maximum length of a packet with this many parameter bytes, for buffers. */
  packetBytes(paramBytes: number): number;
  /**
   * Writes a packet; returns its length, or −1 if it does not fit. `params` must not lie in `out`. Hot path.
   */
  encode(out: Uint8Array, id: number, instruction: number, params: Uint8Array, paramBytes: number): number;
  /**
   * Length of the packet that begins at `start`; 0 while more bytes are needed; −1 if no packet begins there.
   * Hot path.
   */
  lengthAt(bytes: Uint8Array, start: number, end: number): number;
  /** Fills `packet` from a packet of that length; false if the checksum is wrong. Hot path. */
  decode(bytes: Uint8Array, start: number, length: number, packet: ServoPacket): boolean;
}
