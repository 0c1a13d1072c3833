import { formatIp, parseIp } from './ip-address.ts';

/**
 * Hosts as exact numbers, so that comparing them on the hot path costs nothing: an IPv4 address is its 32-bit
 * value; an IPv6 address gets the next number from 2^32 when it is first seen in this thread. A number is never
 * given to another address, so a host that was forgotten cannot receive what was meant for another.
 */
const FIRST_SIX = 2 ** 32;
const SETS = 256;
const WAYS = 8;
/** An address and its zone: the index of the interface of a link-local address. */
const KEY_BYTES = 20;
const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/**
 * IPv6 hosts of this thread. Bounded: senders whose addresses are forged replace each other, and at worst a host
 * that is in use gets another number, which ends its session. Configured hosts are pinned: they stay.
 */
class HostTable {
  readonly #keys = new Uint8Array(SETS * WAYS * KEY_BYTES);
  readonly #numbers = new Float64Array(SETS * WAYS);
  readonly #used = new Float64Array(SETS * WAYS);
  readonly #salt: number;
  #next = FIRST_SIX;
  #tick = 0;

  constructor(salt: number) {
    this.#salt = salt | 1;
  }

  /** Number of the address at `bytes[at]`. Hot path: does not allocate. */
  intern(bytes: Uint8Array, at: number, zone: number, pin = false): number {
    const first = this.#set(bytes, at) * WAYS;
    let row = this.#find(first, bytes, at, zone);
    if (row < 0) row = this.#replace(first, bytes, at, zone);
    this.#tick++;
    if (pin) this.#used[row] = Number.POSITIVE_INFINITY;
    else if (this.#used[row]! !== Number.POSITIVE_INFINITY) this.#used[row] = this.#tick;
    return this.#numbers[row]!;
  }

  /** Copies the address of `number` to `to[at]`, as 16 bytes; returns its zone, or −1 if it was forgotten. */
  read(number: number, to: Uint8Array, at: number): number {
    const row = this.#numbers.indexOf(number);
    if (row < 0) return -1;
    for (let i = 0; i < 16; i++) to[at + i] = this.#keys[row * KEY_BYTES + i]!;
    return this.#zone(row);
  }

  #zone(row: number): number {
    const at = row * KEY_BYTES + 16;
    const keys = this.#keys;
    return ((keys[at]! * 256 + keys[at + 1]!) * 256 + keys[at + 2]!) * 256 + keys[at + 3]!;
  }

  #set(bytes: Uint8Array, at: number): number {
    let hash = this.#salt;
    for (let i = 0; i < 16; i++) hash = Math.imul(hash ^ bytes[at + i]!, 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 15), this.#salt);
    return (hash >>> 16) % SETS;
  }

  #find(first: number, bytes: Uint8Array, at: number, zone: number): number {
    for (let row = first; row < first + WAYS; row++) {
      if (this.#numbers[row] === 0 || this.#zone(row) !== zone) continue;
      let i = 0;
      while (i < 16 && this.#keys[row * KEY_BYTES + i] === bytes[at + i]) i++;
      if (i === 16) return row;
    }
    return -1;
  }

  #replace(first: number, bytes: Uint8Array, at: number, zone: number): number {
    let row = first;
    for (let each = first + 1; each < first + WAYS; each++)
      if (this.#used[each]! < this.#used[row]!) row = each;
    const key = row * KEY_BYTES;
    for (let i = 0; i < 16; i++) this.#keys[key + i] = bytes[at + i]!;
    for (let i = 0; i < 4; i++) this.#keys[key + 16 + i] = (zone >>> (24 - 8 * i)) & 255;
    this.#numbers[row] = this.#next++;
    this.#used[row] = 0;
    return row;
  }
}

const table = new HostTable(crypto.getRandomValues(new Int32Array(1))[0]!);

export const isSixHost = (host: number): boolean => host >= FIRST_SIX;

/** Number of the 16-byte address at `bytes[at]`; one that carries IPv4 has the number of that. Hot path. */
export function hostOfSix(bytes: Uint8Array, at: number, zone: number): number {
  for (let i = 0; i < 12; i++) if (bytes[at + i] !== MAPPED[i]) return table.intern(bytes, at, zone);
  return ((bytes[at + 12]! * 256 + bytes[at + 13]!) * 256 + bytes[at + 14]!) * 256 + bytes[at + 15]!;
}

/** Writes a host as 16 bytes, IPv4 in the form that IPv6 sockets use; returns its zone, −1 if it was forgotten. */
export function writeSix(host: number, to: Uint8Array, at: number): number {
  if (isSixHost(host)) return table.read(host, to, at);
  for (let i = 0; i < 12; i++) to[at + i] = MAPPED[i]!;
  for (let i = 0; i < 4; i++) to[at + 12 + i] = Math.floor(host / 256 ** (3 - i)) & 255;
  return 0;
}

/**
 * Number of an address in text; null if the text is no address. `pin`: it is configured, so its number stays valid.
 * `zoneIndex` gives the index of the interface named after `%`.
 */
export function hostOfText(
  text: string,
  options: { pin?: boolean; zoneIndex?: (name: string) => number } = {},
): number | null {
  const [address = '', zone] = text.split('%');
  const bytes = parseIp(address);
  if (bytes === null || (bytes.length === 4 && zone !== undefined)) return null;
  if (bytes.length === 4) return ((bytes[0]! * 256 + bytes[1]!) * 256 + bytes[2]!) * 256 + bytes[3]!;
  const index = zone === undefined ? 0 : /^\d+$/.test(zone) ? Number(zone) : options.zoneIndex?.(zone);
  if (index === undefined || index < 0) return null;
  if (MAPPED.every((byte, i) => bytes[i] === byte)) return hostOfSix(bytes, 0, 0);
  return table.intern(bytes, 0, index, options.pin === true);
}

/** Text of a host; empty if this thread has forgotten it, or never knew it. `zoneName` names an interface. */
export function textOfHost(host: number, zoneName: (index: number) => string = String): string {
  const bytes = new Uint8Array(16);
  const zone = writeSix(host, bytes, 0);
  if (zone < 0) return '';
  if (!isSixHost(host)) return formatIp(bytes.subarray(12));
  return zone === 0 ? formatIp(bytes) : `${formatIp(bytes)}%${zoneName(zone)}`;
}
