/** Maximum payload of a CAN FD frame in bytes; classic frames have at most 8. */
const MAX_CAN_BYTES = 64;

/** One CAN frame. The sender reuses it: copy what you keep. */
export interface CanFrame {
  id: number;
  /** 29-bit id. */
  extended: boolean;
  /** Remote request: a length, no data. */
  remote: boolean;
  /** CAN FD; with `bitRateSwitch`, the data phase runs at the data bit rate. */
  fd: boolean;
  bitRateSwitch: boolean;
  /** Payload bytes; for a remote request, the number of bytes requested. */
  length: number;
  readonly data: Uint8Array;
}

export const emptyFrame = (id = 0): CanFrame => ({
  id,
  extended: false,
  remote: false,
  fd: false,
  bitRateSwitch: false,
  length: 0,
  data: new Uint8Array(MAX_CAN_BYTES),
});

/** Payload bytes by data length code; classic frames use the first nine. */
const LENGTHS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64] as const;

export const lengthOfCode = (code: number): number => LENGTHS[code] ?? -1;

/** The data length code for exactly this many bytes; −1 if there is none. */
export const codeOfLength = (length: number): number => (LENGTHS as readonly number[]).indexOf(length);

/** Whether the frame is valid on a bus: the id fits, the length has a code, FD has no remote requests. */
export function isValidFrame({ id, extended, remote, fd, length }: CanFrame): boolean {
  if (!Number.isInteger(id) || id < 0 || id > (extended ? 0x1fffffff : 0x7ff)) return false;
  if (fd && remote) return false;
  return length >= 0 && length <= (fd ? MAX_CAN_BYTES : 8) && codeOfLength(length) >= 0;
}

/**
 * Worst-case time on the bus, in bits at the arbitration rate: assumes the maximum number of stuff bits (for
 * 8 bytes a fifth above the minimum). `dataRatio`: data bit rate / arbitration bit rate, for FD with bit rate
 * switch.
 */
export function frameBits({ extended, remote, fd, bitRateSwitch, length }: CanFrame, dataRatio = 1): number {
  const dataBits = remote ? 0 : 8 * length;
  if (!fd) {
    const stuffed = (extended ? 54 : 34) + dataBits;
    return stuffed + 13 + Math.floor((stuffed - 1) / 4);
  }
  const arbitration = (extended ? 36 : 17) * 1.25 + 12;
  const fast = (9 + dataBits) * 1.25 + (length > 16 ? 27 : 22);
  return arbitration + fast / (bitRateSwitch ? dataRatio : 1);
}

const HEX = '0123456789ABCDEF';

export function hexOf(bytes: Uint8Array, length: number): string {
  let text = '';
  for (let i = 0; i < length; i++) text += HEX[bytes[i]! >> 4]! + HEX[bytes[i]! & 15]!;
  return text;
}

/**
 * In `cansend` notation: `155#00002CC300002CC3`, `0C34567F#0102`, `100#R2`, `005##18A3C` (FD with its flags).
 */
export function frameText(frame: CanFrame): string {
  const { id, extended, remote, fd, bitRateSwitch, length, data } = frame;
  const head = id
    .toString(16)
    .toUpperCase()
    .padStart(extended ? 8 : 3, '0');
  if (remote) return `${head}#R${length > 0 ? length : ''}`;
  return `${head}${fd ? `##${bitRateSwitch ? 1 : 0}` : '#'}${hexOf(data, length)}`;
}

const TEXT =
  /^([0-9A-F]{3}|[0-9A-F]{8})(?:#R([0-8])?|##([0-9A-F])((?:\.?[0-9A-F]{2})*)|#((?:\.?[0-9A-F]{2})*))$/i;

/** Parses that notation; null if the text is not a frame. */
export function parseFrameText(text: string): CanFrame | null {
  const match = TEXT.exec(text);
  if (match === null) return null;
  const [, id = '', remoteLength, fdFlags, fdData, data] = match;
  const frame = emptyFrame(Number.parseInt(id, 16));
  frame.extended = id.length === 8;
  frame.remote = text.includes('#R') || text.includes('#r');
  frame.fd = fdFlags !== undefined;
  frame.bitRateSwitch = frame.fd && (Number.parseInt(fdFlags!, 16) & 1) === 1;
  const bytes = (fdData ?? data ?? '').replaceAll('.', '');
  if (bytes.length / 2 > MAX_CAN_BYTES) return null;
  frame.length = frame.remote ? Number(remoteLength ?? 0) : bytes.length / 2;
  for (let i = 0; i < bytes.length; i += 2) frame.data[i / 2] = Number.parseInt(bytes.slice(i, i + 2), 16);
  return isValidFrame(frame) ? frame : null;
}
