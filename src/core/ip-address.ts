/** Bytes of an IPv4 (4) or IPv6 (16) address in text; null if it is neither. A zone (`%eth0`) is not part of it. */
export function parseIp(text: string): Uint8Array | null {
  return text.includes(':') ? parseSix(text) : parseFour(text);
}

function parseFour(text: string): Uint8Array | null {
  if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(text)) return null;
  const bytes = text.split('.').map(Number);
  return bytes.some((byte) => byte > 255) ? null : Uint8Array.from(bytes);
}

const GROUPS = 8;

function parseSix(text: string): Uint8Array | null {
  const halves = text.split('::');
  if (halves.length > 2) return null;
  const [head, tail] = halves.map((half) => groupsOf(half));
  if (head === null || tail === null) return null;
  const missing = GROUPS - head!.length - (tail?.length ?? 0);
  // "::" stands for at least one group.
  if (tail === undefined ? missing !== 0 : missing < 1) return null;
  const groups = [...head!, ...new Array<number>(Math.max(0, missing)).fill(0), ...(tail ?? [])];
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 255]));
}

/** 16-bit groups of one side of "::"; the last may be written as an IPv4 address. */
function groupsOf(half: string): number[] | null {
  if (half === '') return [];
  const groups: number[] = [];
  const parts = half.split(':');
  for (const [i, part] of parts.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(Number.parseInt(part, 16));
    else {
      const four = i === parts.length - 1 ? parseFour(part) : null;
      if (four === null) return null;
      groups.push(four[0]! * 256 + four[1]!, four[2]! * 256 + four[3]!);
    }
  }
  return groups;
}

/** Text of 4 or 16 bytes; IPv6 in the canonical form of RFC 5952. */
export function formatIp(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: GROUPS }, (_, i) => bytes[2 * i]! * 256 + bytes[2 * i + 1]!);
  const [start, length] = longestZeros(groups);
  const hex = (part: number[]) => part.map((group) => group.toString(16)).join(':');
  if (length < 2) return hex(groups);
  return `${hex(groups.slice(0, start))}::${hex(groups.slice(start + length))}`;
}

function longestZeros(groups: readonly number[]): [start: number, length: number] {
  let best: [number, number] = [0, 0];
  for (let i = 0; i < GROUPS; i++) {
    let length = 0;
    while (groups[i + length] === 0) length++;
    if (length > best[1]) best = [i, length];
  }
  return best;
}

/** `HOST:PORT`, with the brackets that an IPv6 address needs. */
export const hostPort = (host: string, port: number | string): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

/** Splits `HOST:PORT`, `[HOST]:PORT` or `PORT`; null if it is none of them. The host may be a name. */
export function splitHostPort(text: string): { host: string | null; port: number } | null {
  const match = /^(?:(?:\[([0-9a-fA-F:.]+(?:%[\w.-]+)?)\]|([\w.-]+)):)?(\d{1,5})$/.exec(text);
  const port = Number(match?.[3] ?? Number.NaN);
  return port <= 65_535 ? { host: match![1] ?? match![2] ?? null, port } : null;
}
