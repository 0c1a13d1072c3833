import { MAX_POINTS, POINT_COUNTS } from '../../hand/points.ts';
import { readDecimal } from './decimal.ts';
import { decodePickledList, PICKLE_START } from './pickle-list.ts';

/** OpenTeach's ports, all on the PC. */
export const OPENTEACH_PORTS = { right: 8087, left: 8110, button: 8095, pause: 8100 } as const;
/** Topic of the publisher that the ORCA document describes. */
export const HAND_TOPIC = 'hand_coords';

export type HandMode = 'absolute' | 'relative';

/** The points of one hand, as they were sent. */
export interface HandToken {
  /** Tag of the app's modes: arm and hand, or hand only. The points are the same in both. */
  mode: HandMode;
  /** 21, 24, 25 or 26. */
  count: number;
  /** x, y, z each; only the first 3 · count numbers are valid. */
  pointsM: Float64Array;
}

export const emptyHandToken = (): HandToken => ({
  mode: 'absolute',
  count: 0,
  pointsM: new Float64Array(3 * MAX_POINTS),
});

export type TokenRefusal =
  | 'empty'
  | 'malformed'
  | 'bad-json'
  | 'empty-hand'
  | 'point-count'
  | 'decimal-comma'
  | 'non-finite';

const [COMMA, BAR, COLON, BRACKET] = [0x2c, 0x7c, 0x3a, 0x5b];
const [SPACE, LINE_FEED, CARRIAGE, POINT] = [0x20, 0x0a, 0x0d, 0x2e];
const MODES = ['absolute', 'relative'] as const;
/** Up to two for each coordinate, where the sender's locale writes decimals with a comma. */
const MOST_NUMBERS = 6;

const ascii = (text: string): Uint8Array => Uint8Array.from(text, (c) => c.charCodeAt(0));
const MODE_BYTES = MODES.map((mode) => ascii(`${mode}:`));
const TOPIC_BYTES = ascii(HAND_TOPIC);
/** Topics of OpenTeach's own detector. */
const SIDE_BYTES = [ascii('right '), ascii('left ')];
/** Its list: the mode, then x, y, z of each point. */
const listed = new Float64Array(1 + 3 * MAX_POINTS);
const scratchM = new Float64Array(3 * MAX_POINTS);

/**
 * The Quest app's token `absolute:x,y,z|…|x,y,z:`, or JSON as in the ORCA document: `[[x,y,z], …]`, with or
 * without its topic in front, or, with `takesPickles`, the list of OpenTeach's detector after `right ` or
 * `left `. Leaves `out` untouched on rejection. Tokens allocate nothing; JSON does. Never throws.
 */
export function decodeHand(
  bytes: Uint8Array,
  length: number,
  out: HandToken,
  takesPickles = false,
): TokenRefusal | null {
  if (length === 0) return 'empty';
  let at = startsWith(bytes, length, TOPIC_BYTES) ? TOPIC_BYTES.length : 0;
  while (at < length && bytes[at] === SPACE) at++;
  if (bytes[at] === BRACKET) return decodeJson(bytes.subarray(at, length), out);
  for (const side of SIDE_BYTES)
    if (takesPickles && startsWith(bytes, length, side) && bytes[side.length] === PICKLE_START)
      return decodeListed(bytes.subarray(side.length, length), out);
  for (let mode = 0; mode < MODES.length; mode++)
    if (startsWith(bytes, length, MODE_BYTES[mode]!)) {
      const count = readPoints(bytes, MODE_BYTES[mode]!.length, length);
      if (typeof count === 'string') return count;
      take(out, MODES[mode]!, count);
      return null;
    }
  return 'malformed';
}

function decodeListed(bytes: Uint8Array, out: HandToken): TokenRefusal | null {
  const numbers = decodePickledList(bytes, listed);
  if (numbers < 1) return 'malformed';
  const count = (numbers - 1) / 3;
  if (!POINT_COUNTS.includes(count)) return numbers === 1 ? 'empty-hand' : 'point-count';
  for (let i = 0; i < 3 * count; i++) {
    const coordinate = listed[1 + i]!;
    if (!Number.isFinite(coordinate)) return 'non-finite';
    scratchM[i] = coordinate;
  }
  take(out, listed[0] === 0 ? 'absolute' : 'relative', count);
  return null;
}

function take(out: HandToken, mode: HandMode, count: number): void {
  out.mode = mode;
  out.count = count;
  for (let i = 0; i < 3 * count; i++) out.pointsM[i] = scratchM[i]!;
}

/** Decodes into `scratchM`; returns the number of points, or the reason for rejection. */
function readPoints(bytes: Uint8Array, from: number, length: number): number | TokenRefusal {
  let end = length;
  while (end > from && (bytes[end - 1] === LINE_FEED || bytes[end - 1] === CARRIAGE)) end--;
  if (end > from && bytes[end - 1] === COLON) end--;
  if (end === from) return 'empty-hand';
  let [points, numbers, at] = [0, 0, from];
  let [finite, commas] = [true, false];
  while (at <= end) {
    const stop = readDecimal(bytes, at, end);
    if (stop.end === at) return 'malformed';
    finite &&= Number.isFinite(stop.value);
    if (points < MAX_POINTS && numbers < 3) scratchM[3 * points + numbers] = stop.value;
    numbers++;
    const separator = stop.end === end ? BAR : bytes[stop.end];
    at = stop.end + 1;
    if (separator === COMMA) continue;
    if (separator !== BAR) return 'malformed';
    if (numbers > 3 && numbers <= MOST_NUMBERS) commas = true;
    else if (numbers !== 3) return 'malformed';
    points++;
    numbers = 0;
  }
  if (commas) return bytes.subarray(from, end).includes(POINT) ? 'malformed' : 'decimal-comma';
  if (!POINT_COUNTS.includes(points)) return 'point-count';
  return finite ? points : 'non-finite';
}

function startsWith(bytes: Uint8Array, length: number, prefix: Uint8Array): boolean {
  if (length < prefix.length) return false;
  for (let i = 0; i < prefix.length; i++) if (bytes[i] !== prefix[i]) return false;
  return true;
}

const text = new TextDecoder('utf-8');

function decodeJson(bytes: Uint8Array, out: HandToken): TokenRefusal | null {
  let value: unknown;
  try {
    value = JSON.parse(text.decode(bytes));
  } catch {
    return 'bad-json';
  }
  if (!Array.isArray(value)) return 'malformed';
  if (value.length === 0) return 'empty-hand';
  const isFlat = typeof value[0] === 'number';
  const count = isFlat ? value.length / 3 : value.length;
  if (!POINT_COUNTS.includes(count)) return 'point-count';
  for (let i = 0; i < count; i++) {
    const point: unknown = isFlat ? value.slice(3 * i, 3 * i + 3) : value[i];
    if (!Array.isArray(point) || point.length !== 3) return 'malformed';
    for (let k = 0; k < 3; k++) {
      const coordinate: unknown = point[k];
      if (coordinate === null) return 'non-finite';
      if (typeof coordinate !== 'number') return 'malformed';
      if (!Number.isFinite(coordinate)) return 'non-finite';
      scratchM[3 * i + k] = coordinate;
    }
  }
  take(out, 'relative', count);
  return null;
}

/** As Unity writes floats: seven digits, no trailing zeros. */
export function encodeHandToken(mode: HandMode, count: number, pointsM: ArrayLike<number>): string {
  const points: string[] = [];
  for (let i = 0; i < count; i++)
    points.push([0, 1, 2].map((k) => unityFloat(pointsM[3 * i + k]!)).join(','));
  return `${mode}:${points.join('|')}:`;
}

const unityFloat = (value: number): string =>
  String(Number(value.toPrecision(7)))
    .toUpperCase()
    .replace(/E([+-])(\d)$/, 'E$10$2');

export type ButtonState = 'High' | 'Low' | 'None';

const BUTTON_BYTES = (['High', 'Low', 'None'] as const).map((name) => [name, ascii(name)] as const);

/** `High`, `Low` or `None`, as on the ports of the resolution button and the pause. */
export function decodeButton(bytes: Uint8Array, length: number): ButtonState | null {
  for (const [name, written] of BUTTON_BYTES)
    if (length === written.length && startsWith(bytes, length, written)) return name;
  return null;
}
