/** A register of a servo: address and size in bytes. */
export interface Register {
  readonly address: number;
  readonly size: 1 | 2 | 4;
}

/** A whole packet with a good checksum. Reused: valid during the call only. */
export interface ServoPacket {
  id: number;
  instruction: number;
  /** Of a status packet; 0 in instructions, where the protocol can tell them apart. */
  error: number;
  /** Without stuffing, and without the error byte. */
  params: Uint8Array;
  paramBytes: number;
  /** The packet as it came: `wireBytes` of `wire`, from `wireAt` on. */
  wire: Uint8Array;
  wireAt: number;
  wireBytes: number;
}

/** What differs between two makes of servo on a half-duplex line. Data and pure functions: it holds no state. */
export interface ServoProtocol {
  readonly name: string;
  /** Instruction codes; null where the servos do not have it: they are then read one after the other. */
  readonly ping: number;
  readonly read: number;
  readonly write: number;
  readonly syncWrite: number;
  readonly syncRead: number | null;
  readonly bulkRead: number | null;
  /**
   * The code that marks a status packet. Null where nothing marks it and the error byte stands in place of the
   * instruction: then the bus recognises an echo by comparing it with what it sent.
   */
  readonly status: number | null;
  readonly broadcastId: number;
  /** Bytes of an address or a size among the parameters; least significant first. */
  readonly addressBytes: 1 | 2;
  /** Of register values. */
  readonly isLittleEndian: boolean;
  readonly maxPacketBytes: number;
  /** A status packet without data. */
  readonly statusBytes: number;
  /** Data in the answer to a ping. */
  readonly pingDataBytes: number;
  /** Bytes of the longest packet with so many parameters, for buffers. */
  packetBytes(paramBytes: number): number;
  /** Writes a packet; its length, or −1 where it does not fit. `params` must not lie in `out`. Hot path. */
  encode(out: Uint8Array, id: number, instruction: number, params: Uint8Array, paramBytes: number): number;
  /**
   * Length of the packet that begins at `start`; 0 while the bytes before `end` do not show it; −1 where no packet
   * begins there. Hot path.
   */
  lengthAt(bytes: Uint8Array, start: number, end: number): number;
  /** Fills `packet` from a packet of that length; false where the checksum is wrong. Hot path. */
  decode(bytes: Uint8Array, start: number, length: number, packet: ServoPacket): boolean;
}
