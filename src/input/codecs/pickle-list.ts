/**
 * A list of numbers as Python's `pickle` writes it, protocols 2 to 5. A pickle is a program: this reads the few
 * instructions such a list needs and rejects every other one, so that no sender's code ever runs.
 */

const OP = {
  proto: 0x80,
  frame: 0x95,
  emptyList: 0x5d,
  memoize: 0x94,
  binput: 0x71,
  mark: 0x28,
  binint: 0x4a,
  binint1: 0x4b,
  binint2: 0x4d,
  binfloat: 0x47,
  append: 0x61,
  appends: 0x65,
  stop: 0x2e,
} as const;

/** Bytes that follow an instruction. */
const OPERAND_BYTES: Partial<Record<number, number>> = {
  [OP.proto]: 1,
  [OP.frame]: 8,
  [OP.emptyList]: 0,
  [OP.memoize]: 0,
  [OP.binput]: 1,
  [OP.mark]: 0,
  [OP.binint]: 4,
  [OP.binint1]: 1,
  [OP.binint2]: 2,
  [OP.binfloat]: 8,
  [OP.append]: 0,
  [OP.appends]: 0,
  [OP.stop]: 0,
};
const MIN_PROTOCOL = 2;
const MAX_PROTOCOL = 5;

export const PICKLE_START = OP.proto;

/**
 * Reads one flat list into `out`; returns its length, or −1 for anything else: another object, another
 * instruction, more numbers than `out` holds, bytes after the end. Never throws.
 */
export function decodePickledList(bytes: Uint8Array, out: Float64Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (bytes[0] !== OP.proto || bytes[1]! < MIN_PROTOCOL || bytes[1]! > MAX_PROTOCOL) return -1;
  let [count, lists, at] = [0, 0, 2];
  // Numbers stay on the stack until they are appended; only a mark lets more than one stay.
  let waiting = 0;
  let marked = false;
  while (at < bytes.length) {
    const op = bytes[at]!;
    const operand = OPERAND_BYTES[op];
    if (operand === undefined || op === OP.proto || at + 1 + operand > bytes.length) return -1;
    at++;
    if (op === OP.stop) return lists === 1 && waiting === 0 && !marked && at === bytes.length ? count : -1;
    if (op === OP.emptyList && ++lists > 1) return -1;
    if (op === OP.mark) {
      if (marked || waiting > 0 || lists === 0) return -1;
      marked = true;
    } else if (op === OP.append || op === OP.appends) {
      if (marked !== (op === OP.appends) || (op === OP.append && waiting !== 1)) return -1;
      marked = false;
      waiting = 0;
    } else {
      const value = numberAt(view, op, at);
      if (value !== null) {
        if (lists === 0 || count >= out.length || (waiting > 0 && !marked)) return -1;
        out[count++] = value;
        waiting++;
      }
    }
    at += operand;
  }
  return -1;
}

function numberAt(view: DataView, op: number, at: number): number | null {
  if (op === OP.binfloat) return view.getFloat64(at, false);
  if (op === OP.binint1) return view.getUint8(at);
  if (op === OP.binint2) return view.getUint16(at, true);
  return op === OP.binint ? view.getInt32(at, true) : null;
}
