/** The number read, and where it ended; reused from call to call. */
export interface Decimal {
  value: number;
  end: number;
}

const POWERS = Float64Array.from({ length: 23 }, (_, i) => 10 ** i);
/** Above this an integer may not be exact in float64. */
const MOST_EXACT = 2 ** 53;
const MOST_CHARS = 64;
const [PLUS, MINUS, POINT, ZERO, NINE] = [0x2b, 0x2d, 0x2e, 0x30, 0x39];
const [UPPER_E, LOWER_E] = [0x45, 0x65];
const NAMED: readonly (readonly [string, number])[] = [
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['∞', Number.POSITIVE_INFINITY],
  ['-∞', Number.NEGATIVE_INFINITY],
];
const NAMES = NAMED.map(([name, value]) => [new TextEncoder().encode(name), value] as const);

const result: Decimal = { value: Number.NaN, end: 0 };

/**
 * Reads a decimal number in ASCII from `from` to before `before`: `-1`, `0.25`, `1E-05`, or `NaN` and
 * `Infinity` as .NET writes them. `end` is `from` if there is none. Correctly rounded. Hot path: no
 * allocation up to 15 digits.
 */
export function readDecimal(bytes: Uint8Array, from: number, before: number): Decimal {
  let at = from;
  const negative = bytes[at] === MINUS;
  if (at < before && (negative || bytes[at] === PLUS)) at++;
  let [mantissa, digits, fraction] = [0, 0, 0];
  let exact = true;
  let seenPoint = false;
  for (; at < before; at++) {
    const byte = bytes[at]!;
    if (byte === POINT && !seenPoint) seenPoint = true;
    else if (byte >= ZERO && byte <= NINE) {
      digits++;
      if (seenPoint) fraction++;
      mantissa = 10 * mantissa + byte - ZERO;
      if (mantissa >= MOST_EXACT) exact = false;
    } else break;
  }
  if (digits === 0) return readNamed(bytes, from, before);
  const exponent = readExponent(bytes, at, before);
  at += exponentChars;
  result.end = at;
  const scale = exponent - fraction;
  // Both factors are exact, so the result is rounded once (Clinger).
  if (exact && scale >= -22 && scale <= 22) {
    const size = scale < 0 ? mantissa / POWERS[-scale]! : mantissa * POWERS[scale]!;
    result.value = negative ? -size : size;
  } else result.value = at - from > MOST_CHARS ? Number.NaN : Number(ascii(bytes, from, at));
  return result;
}

let exponentChars = 0;

/** `E-05`; 0 and no characters if there is none. */
function readExponent(bytes: Uint8Array, from: number, before: number): number {
  exponentChars = 0;
  if (from >= before || (bytes[from] !== UPPER_E && bytes[from] !== LOWER_E)) return 0;
  let at = from + 1;
  const negative = bytes[at] === MINUS;
  if (at < before && (negative || bytes[at] === PLUS)) at++;
  const first = at;
  let exponent = 0;
  for (; at < before && bytes[at]! >= ZERO && bytes[at]! <= NINE; at++)
    exponent = Math.min(9999, 10 * exponent + bytes[at]! - ZERO);
  if (at === first) return 0;
  exponentChars = at - from;
  return negative ? -exponent : exponent;
}

function readNamed(bytes: Uint8Array, from: number, before: number): Decimal {
  result.end = from;
  for (const [name, value] of NAMES) {
    let same = 0;
    while (same < name.length && from + same < before && bytes[from + same] === name[same]) same++;
    if (same !== name.length) continue;
    result.value = value;
    result.end = from + same;
    break;
  }
  return result;
}

const ascii = (bytes: Uint8Array, from: number, end: number): string =>
  String.fromCharCode(...bytes.subarray(from, end));
