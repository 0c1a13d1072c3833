/** A probe of the echo service, or its reply; as long as a command. Times are nanoseconds, little-endian. */
export interface EchoPacket {
  seq: number;
  /** Prober's clock, when it was sent. */
  t0Ns: number;
  /** Clock of the echo's host: received by the kernel, sent. 0 in a probe. */
  t1Ns: number;
  t2Ns: number;
  /** Type of service of the probe as received; −1 if unknown. */
  tos: number;
}

export const ECHO_BYTES = 200;
export const ECHO_PORT = 4754;
/** Expedited forwarding, like every packet of the link. */
export const TOS_EF = 0xb8;

const PROBE = 0x31654846; // "FHe1"
const ANSWER = 0x31724846; // "FHr1"
const UNKNOWN_TOS = 255;

export function writeEcho(kind: 'probe' | 'answer', packet: EchoPacket, out: Uint8Array): void {
  const view = new DataView(out.buffer, out.byteOffset, ECHO_BYTES);
  view.setUint32(0, kind === 'probe' ? PROBE : ANSWER, true);
  view.setUint32(4, packet.seq, true);
  view.setFloat64(8, packet.t0Ns, true);
  view.setFloat64(16, packet.t1Ns, true);
  view.setFloat64(24, packet.t2Ns, true);
  view.setUint8(32, packet.tos < 0 ? UNKNOWN_TOS : packet.tos);
}

/** Null if the length or the magic number is wrong. */
export function readEcho(kind: 'probe' | 'answer', bytes: Uint8Array, length: number): EchoPacket | null {
  if (length !== ECHO_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, ECHO_BYTES);
  if (view.getUint32(0, true) !== (kind === 'probe' ? PROBE : ANSWER)) return null;
  const tos = view.getUint8(32);
  return {
    seq: view.getUint32(4, true),
    t0Ns: view.getFloat64(8, true),
    t1Ns: view.getFloat64(16, true),
    t2Ns: view.getFloat64(24, true),
    tos: tos === UNKNOWN_TOS ? -1 : tos,
  };
}
