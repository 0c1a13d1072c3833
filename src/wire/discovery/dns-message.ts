import { formatIp, parseIp } from '../../core/ip-address.ts';

/** The part of DNS (RFC 1035, 2782) that multicast DNS (RFC 6762) needs to name services. */
export const TYPE = { A: 1, PTR: 12, TXT: 16, AAAA: 28, SRV: 33, ANY: 255 } as const;
const CLASS_IN = 1;
/** In a question: answer me directly. In an answer: replaces what was known before. */
const TOP_BIT = 0x8000;
const RESPONSE = 0x8400;
const MAX_NAME_BYTES = 255;
const MAX_LABEL_BYTES = 63;
const MAX_RECORDS = 128;

export interface DnsQuestion {
  name: string[];
  type: number;
  /** Requests an answer to the sender alone. */
  unicast: boolean;
}

export type DnsData =
  | { type: 'A' | 'AAAA'; address: string }
  | { type: 'PTR'; target: string[] }
  | { type: 'SRV'; port: number; target: string[] }
  | { type: 'TXT'; texts: string[] };

export type DnsRecord = DnsData & {
  name: string[];
  ttlS: number;
  /** Only one responder has this record. */
  unique: boolean;
};

export interface DnsMessage {
  id: number;
  isResponse: boolean;
  questions: DnsQuestion[];
  /** Answers and additional records; of another type than those above are left out. */
  records: DnsRecord[];
}

/** Case does not matter in names. */
export const sameName = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((label, i) => label.toLowerCase() === b[i]!.toLowerCase());

/** Null if it is not a well-formed message. */
export function decodeDns(bytes: Uint8Array): DnsMessage | null {
  try {
    return new Reader(bytes).message();
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) return null;
    throw error;
  }
}

class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  message(): DnsMessage {
    const [id, flags, asked, ...counts] = Array.from({ length: 6 }, () => this.#u16()) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const total = counts.reduce((sum, count) => sum + count, 0);
    if (asked + total > MAX_RECORDS) throw new RangeError('too many records');
    const questions = Array.from({ length: asked }, () => this.#question());
    const records = Array.from({ length: total }, () => this.#record()).filter((record) => record !== null);
    return { id, isResponse: flags >= 0x8000, questions, records };
  }

  #question(): DnsQuestion {
    const name = this.#name();
    const type = this.#u16();
    return { name, type, unicast: this.#u16() >= TOP_BIT };
  }

  #record(): DnsRecord | null {
    const name = this.#name();
    const [type, kind] = [this.#u16(), this.#u16()];
    const ttlS = this.#u16() * 65536 + this.#u16();
    const end = this.#u16() + this.#at;
    if (end > this.#bytes.length) throw new RangeError('record is cut off');
    const data = (kind & ~TOP_BIT) === CLASS_IN ? this.#data(type, end) : null;
    this.#at = end;
    return data === null ? null : { name, ttlS, unique: kind >= TOP_BIT, ...data };
  }

  #data(type: number, end: number): DnsData | null {
    if (type === TYPE.PTR) return { type: 'PTR', target: this.#name() };
    if (type === TYPE.A) return { type: 'A', address: formatIp(this.#take(4)) };
    if (type === TYPE.AAAA) return { type: 'AAAA', address: formatIp(this.#take(16)) };
    if (type === TYPE.SRV) {
      this.#take(4);
      return { type: 'SRV', port: this.#u16(), target: this.#name() };
    }
    if (type !== TYPE.TXT) return null;
    const texts: string[] = [];
    while (this.#at < end) texts.push(this.#text(this.#take(1)[0]!));
    return { type: 'TXT', texts };
  }

  /** Labels, with references to earlier ones; a reference must lead backwards, so that it ends. */
  #name(): string[] {
    const labels: string[] = [];
    let [limit, resume, used] = [this.#at, -1, 0];
    for (;;) {
      const length = this.#take(1)[0]!;
      if (length === 0) break;
      if (length >= 0xc0) {
        const to = (length - 0xc0) * 256 + this.#take(1)[0]!;
        if (to >= limit) throw new RangeError('reference does not lead backwards');
        if (resume < 0) resume = this.#at;
        limit = to;
        this.#at = to;
        continue;
      }
      used += length + 1;
      if (length > MAX_LABEL_BYTES || used > MAX_NAME_BYTES) throw new RangeError('name is too long');
      labels.push(this.#text(length));
    }
    if (resume >= 0) this.#at = resume;
    return labels;
  }

  #text(length: number): string {
    return new TextDecoder().decode(this.#take(length));
  }

  #take(count: number): Uint8Array {
    if (this.#at + count > this.#bytes.length) throw new RangeError('message is cut off');
    this.#at += count;
    return this.#bytes.slice(this.#at - count, this.#at);
  }

  #u16(): number {
    this.#at += 2;
    return this.#view.getUint16(this.#at - 2);
  }
}

/** Names are written in full: our messages are small. Records after the first `answers` are additional. */
export function encodeDns(message: DnsMessage, answers = message.records.length): Uint8Array {
  const { id, isResponse, questions, records } = message;
  const out: number[] = [];
  const u16 = (value: number) => out.push((value >> 8) & 255, value & 255);
  for (const value of [id, isResponse ? RESPONSE : 0, questions.length]) u16(value);
  // Without a question the records are answers; with one, they are what the question would be answered with.
  u16(isResponse ? answers : 0);
  u16(isResponse ? 0 : records.length);
  u16(isResponse ? records.length - answers : 0);
  for (const { name, type, unicast } of questions) {
    out.push(...nameBytes(name));
    u16(type);
    u16(CLASS_IN + (unicast ? TOP_BIT : 0));
  }
  for (const record of records) {
    out.push(...nameBytes(record.name));
    u16(TYPE[record.type]);
    u16(CLASS_IN + (record.unique ? TOP_BIT : 0));
    u16(Math.floor(record.ttlS / 65536));
    u16(record.ttlS % 65536);
    const data = dataBytes(record);
    u16(data.length);
    out.push(...data);
  }
  return Uint8Array.from(out);
}

function dataBytes(data: DnsData): number[] {
  if (data.type === 'PTR') return nameBytes(data.target);
  if (data.type === 'SRV') return [0, 0, 0, 0, data.port >> 8, data.port & 255, ...nameBytes(data.target)];
  if (data.type === 'TXT')
    return (data.texts.length === 0 ? [''] : data.texts).flatMap((text) => labelBytes(text, 255));
  return [...parseIp(data.address)!];
}

const nameBytes = (name: readonly string[]): number[] => [
  ...name.flatMap((label) => labelBytes(label, MAX_LABEL_BYTES)),
  0,
];

function labelBytes(text: string, max: number): number[] {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length > max) throw new Error(`"${text}" is longer than ${max} bytes`);
  return [bytes.length, ...bytes];
}
