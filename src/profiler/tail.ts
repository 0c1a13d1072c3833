import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../core/errors.ts';
import type { TraceRecord } from '../messages/trace-record.ts';
import { fastCommand } from '../trace/fast-line.ts';
import { nextPartPath } from '../trace/file-name.ts';
import { LineSplitter } from '../trace/lines.ts';
import { parseTraceLine, type TraceHeader, type TraceMotion } from '../trace/stamps.ts';

export interface TailHandler {
  /** A new run: from now on, records come from this file. */
  onFile(file: string, header: TraceHeader | null): void;
  onRecord(record: TraceRecord): void;
  onMotion(motion: TraceMotion): void;
}

const CHUNK_BYTES = 1 << 20;
const HEADER_BYTES = 1 << 16;
/** Only the end of a long file is read: some minutes. */
const BACKLOG_BYTES = 24 << 20;
const NAME = /^robot_trace_.*\.jsonl$/;

/**
 * Follows a trace while it is written: the newest in a folder, or one file and its further parts. It only reads and does
 * not affect the writing processes. `poll` reads new lines.
 */
export class TraceTail {
  readonly #where: string;
  readonly #handler: TailHandler;
  readonly #backlogBytes: number;
  readonly #chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  #file = '';
  #fd = -1;
  #at = 0;
  #splitter: LineSplitter | null = null;

  /** Throws `file-missing` if there is no such folder or file. */
  constructor(where: string, handler: TailHandler, backlogBytes = BACKLOG_BYTES) {
    this.#where = where;
    this.#backlogBytes = backlogBytes;
    this.#handler = handler;
    if (statSync(where, { throwIfNoEntry: false }) === undefined)
      throw new TeleopError('file-missing', `there is no folder or file ${where}`, {
        hint: 'Start a demo or an operator first, or give the folder of its traces (trace.dir of the rig).',
      });
  }

  get file(): string {
    return this.#file;
  }

  /** Returns the number of new bytes. */
  poll(): number {
    const newest = this.#newest();
    if (newest !== null && newest !== this.#file) this.#open(newest);
    return this.#fd < 0 ? 0 : this.#read();
  }

  close(): void {
    if (this.#fd >= 0) closeSync(this.#fd);
    this.#fd = -1;
  }

  #newest(): string | null {
    const stat = statSync(this.#where, { throwIfNoEntry: false });
    if (stat === undefined) return null;
    if (!stat.isDirectory()) return this.#lastPart(this.#file === '' ? this.#where : this.#file);
    // Names sort by time, and further parts after the first.
    const names = readdirSync(this.#where)
      .filter((name) => NAME.test(name))
      .sort();
    return names.length === 0 ? null : this.#lastPart(path.join(this.#where, firstPart(names.at(-1)!)));
  }

  #lastPart(file: string): string {
    const next = nextPartPath(file);
    return next !== null && statSync(next, { throwIfNoEntry: false }) !== undefined
      ? this.#lastPart(next)
      : file;
  }

  #open(file: string): void {
    const isNextPart = nextPartPath(this.#file) === file;
    if (this.#fd >= 0) this.#read();
    this.close();
    this.#fd = openSync(file, 'r');
    this.#file = file;
    const { size } = statSync(file);
    this.#at = Math.max(0, size - this.#backlogBytes);
    let isTorn = this.#at > 0;
    const { onRecord, onMotion } = this.#handler;
    this.#splitter = new LineSplitter(
      (text) => {
        if (isTorn) isTorn = false;
        else {
          const line = parseTraceLine(text);
          if (line.kind === 'command') onRecord(line.record);
          else if (line.kind === 'motion') onMotion(line.motion);
        }
      },
      () => {},
      (bytes, start, end) => {
        const record = isTorn ? null : fastCommand(bytes, start, end);
        if (record !== null) onRecord(record);
        return record !== null;
      },
    );
    if (!isNextPart) this.#handler.onFile(file, this.#header());
  }

  #header(): TraceHeader | null {
    const length = readSync(this.#fd, this.#chunk, 0, HEADER_BYTES, 0);
    const line = parseTraceLine(this.#chunk.toString('utf8', 0, length).split('\n', 1)[0]!);
    return line.kind === 'header' ? line : null;
  }

  #read(): number {
    let total = 0;
    for (;;) {
      const length = readSync(this.#fd, this.#chunk, 0, CHUNK_BYTES, this.#at);
      if (length === 0) return total;
      this.#at += length;
      total += length;
      this.#splitter!.push(this.#chunk.subarray(0, length));
    }
  }
}

/** A session has eight digits or more, a part at most six. */
const firstPart = (name: string): string => name.replace(/_[1-9]\d{0,5}\.jsonl$/, '.jsonl');
