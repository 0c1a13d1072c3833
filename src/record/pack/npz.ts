import { closeSync, openSync, renameSync, writeSync } from 'node:fs';
import { crc32, deflateRawSync } from 'node:zlib';

type Array_ = Int8Array | Float32Array | Int32Array;

interface Entry {
  name: Buffer;
  crc: number;
  packedBytes: number;
  bytes: number;
  offset: number;
}

const DEFLATED = 8;
const VERSION = 20;
/** 1 January 1980: the same content gives the same file. */
const DOS_DATE = 0x21;

/** Writes NumPy arrays and text into a zip file (`.npz`). The file appears under its name once it is whole. */
export class NpzWriter {
  readonly #path: string;
  readonly #file: number;
  readonly #entries: Entry[] = [];
  #offset = 0;

  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(`${path}.part`, 'w');
  }

  array(name: string, shape: readonly number[], values: Array_): void {
    const kind = values instanceof Int8Array ? '|i1' : values instanceof Float32Array ? '<f4' : '<i4';
    const head = `{'descr': '${kind}', 'fortran_order': False, 'shape': (${shape.join(', ')}${shape.length === 1 ? ',' : ''}), }`;
    const padded = head.padEnd(Math.ceil((head.length + 11) / 64) * 64 - 11);
    const prefix = Buffer.alloc(10);
    prefix.write('\x93NUMPY\x01\x00', 'latin1');
    prefix.writeUInt16LE(padded.length + 1, 8);
    const data = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
    this.#add(`${name}.npy`, Buffer.concat([prefix, Buffer.from(`${padded}\n`), data]));
  }

  text(name: string, text: string): void {
    this.#add(name, Buffer.from(text));
  }

  #add(name: string, content: Buffer): void {
    const packed = deflateRawSync(content, { level: 9 });
    const entry = {
      ...{ name: Buffer.from(name), crc: crc32(content), packedBytes: packed.length, bytes: content.length },
      offset: this.#offset,
    };
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    this.#describe(head, 4, entry);
    this.#entries.push(entry);
    for (const part of [head, entry.name, packed]) this.#write(part);
  }

  /** The fields that the local and the central header share. */
  #describe(head: Buffer, at: number, { name, crc, packedBytes, bytes }: Entry): void {
    head.writeUInt16LE(VERSION, at);
    head.writeUInt16LE(DEFLATED, at + 4);
    head.writeUInt16LE(DOS_DATE, at + 8);
    head.writeUInt32LE(crc, at + 10);
    head.writeUInt32LE(packedBytes, at + 14);
    head.writeUInt32LE(bytes, at + 18);
    head.writeUInt16LE(name.length, at + 22);
  }

  #write(bytes: Buffer): void {
    writeSync(this.#file, bytes);
    this.#offset += bytes.length;
  }

  /** Returns the size of the file. */
  close(): number {
    const start = this.#offset;
    for (const entry of this.#entries) {
      const head = Buffer.alloc(46);
      head.writeUInt32LE(0x02014b50, 0);
      head.writeUInt16LE(VERSION, 4);
      this.#describe(head, 6, entry);
      head.writeUInt32LE(entry.offset, 42);
      this.#write(head);
      this.#write(entry.name);
    }
    const end = Buffer.alloc(22);
    end.writeUInt32LE(0x06054b50, 0);
    end.writeUInt16LE(this.#entries.length, 8);
    end.writeUInt16LE(this.#entries.length, 10);
    end.writeUInt32LE(this.#offset - start, 12);
    end.writeUInt32LE(start, 16);
    this.#write(end);
    closeSync(this.#file);
    renameSync(`${this.#path}.part`, this.#path);
    return this.#offset;
  }
}
