/** One encoded picture: NAL units, each after its length in four bytes. */
export interface VideoUnit {
  timeMs: number;
  /** Decodable without earlier pictures; the stream's parameters come first. */
  isKey: boolean;
  bytes: Buffer;
}

const FILE_HEADER_BYTES = 13;
const TAG_HEADER_BYTES = 11;
const TAG_END_BYTES = 4;
const VIDEO = 9;
const AVC_HEADER_BYTES = 5;

/**
 * Reads H.264 from ffmpeg's standard output. FLV, because it states each picture's length: in a bare stream
 * the end of a picture is known only when the next one begins.
 */
export class FlvReader {
  readonly #take: (unit: VideoUnit) => void;
  #rest: Buffer = Buffer.alloc(0);
  #skip = FILE_HEADER_BYTES;
  #parameters: Buffer = Buffer.alloc(0);

  constructor(take: (unit: VideoUnit) => void) {
    this.#take = take;
  }

  push(data: Buffer): void {
    this.#rest = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data]);
    if (this.#rest.length < this.#skip) return;
    let at = this.#skip;
    this.#skip = 0;
    while (this.#rest.length >= at + TAG_HEADER_BYTES) {
      const end = at + TAG_HEADER_BYTES + this.#rest.readUIntBE(at + 1, 3);
      if (this.#rest.length < end + TAG_END_BYTES) break;
      if (this.#rest[at] === VIDEO) this.#tag(this.#rest.subarray(at, end));
      at = end + TAG_END_BYTES;
    }
    this.#rest = this.#rest.subarray(at);
  }

  #tag(tag: Buffer): void {
    const timeMs = tag.readUIntBE(4, 3) + tag[7]! * 2 ** 24;
    const body = tag.subarray(TAG_HEADER_BYTES);
    if (body.length <= AVC_HEADER_BYTES) return;
    const [frame = 0, kind] = body;
    const bytes = body.subarray(AVC_HEADER_BYTES);
    if (kind === 0) this.#parameters = parametersIn(bytes);
    if (kind !== 1) return;
    const isKey = frame >> 4 === 1;
    this.#take({ timeMs, isKey, bytes: isKey ? Buffer.concat([this.#parameters, bytes]) : bytes });
  }
}

/** Of an AVC decoder configuration record: sequence, then picture parameter sets, as length and bytes. */
function parametersIn(record: Buffer): Buffer {
  const out: Buffer[] = [];
  let at = 5;
  for (const mask of [0x1f, 0xff]) {
    const count = (record[at++] ?? 0) & mask;
    for (let i = 0; i < count && at + 2 <= record.length; i++) {
      const length = record.readUInt16BE(at);
      const head = Buffer.alloc(4);
      head.writeUInt32BE(length);
      out.push(head, record.subarray(at + 2, at + 2 + length));
      at += 2 + length;
    }
  }
  return Buffer.concat(out);
}
