import { join } from 'node:path';
import { TeleopError } from '../core/errors.ts';
import { NS_PER_S } from '../core/time/clock.ts';
import type { TraceRecord } from '../messages/trace-record.ts';
import { type Disk, nodeDisk } from './disk.ts';
import { traceFileName } from './file-name.ts';
import { footerLine, headerLine, type TraceSession, traceLine } from './stamps.ts';

export interface TraceFileOptions {
  /** A part is ended before it would grow beyond this. Default 256 MiB. */
  maxPartBytes?: number;
  disk?: Disk;
}

/**
 * Writes a trace, blocking: it belongs on a thread of its own. When the disk refuses, buffered lines are tried again
 * at the next flush, `failure` tells why, and `dropped` counts the commands for which the buffer had no room left.
 */
export class TraceFileWriter {
  readonly #dir: string;
  readonly #session: TraceSession;
  readonly #maxPartBytes: number;
  readonly #disk: Disk;
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  #buffered = 0;
  #fd = CLOSED;
  #path = '';
  #part = 0;
  #partBytes = 0;
  #partCommands = 0;
  #dirty = false;
  #syncedNs = Number.NEGATIVE_INFINITY;
  #dropped = 0;
  #failure: TeleopError | null = null;
  /** The last failure, also when the disk obeyed again. */
  #lastFailure: TeleopError | null = null;
  #deleted = false;

  private constructor(dir: string, session: TraceSession, options: TraceFileOptions) {
    this.#dir = dir;
    this.#session = session;
    this.#maxPartBytes = options.maxPartBytes ?? 256 * 2 ** 20;
    this.#disk = options.disk ?? nodeDisk;
  }

  /** Makes the directory and the first part; throws when it cannot. */
  static open(dir: string, session: TraceSession, options: TraceFileOptions = {}): TraceFileWriter {
    const writer = new TraceFileWriter(dir, session, options);
    if (!writer.#try(() => writer.#openPart(1))) throw writer.#failure!;
    return writer;
  }

  /** The part being written. */
  get path(): string {
    return this.#path;
  }

  get dropped(): number {
    return this.#dropped;
  }

  /** Why the disk last refused; null once it has obeyed again. */
  get failure(): TeleopError | null {
    return this.#failure;
  }

  /** What the file lacks for good because of the disk, and why; empty when it lacks nothing. Known after `close`. */
  get loss(): string {
    if (this.#lastFailure === null || (this.#failure === null && this.#dropped === 0)) return '';
    const lacks = this.#dropped > 0 ? ` It lacks ${this.#dropped} commands.` : '';
    return `${this.#lastFailure.message}.${lacks} ${this.#lastFailure.hint}`;
  }

  write(record: TraceRecord): void {
    const line = `${traceLine(record)}\n`;
    const full = this.#partBytes + line.length + FOOTER_BYTES > this.#maxPartBytes;
    if (full && this.#partCommands > 0) this.#try(() => this.#rotate());
    if (this.#append(line)) this.#partCommands++;
    else this.#dropped++;
  }

  /** A line of another kind than a command, from `stamps.ts`; given up when there is no room. */
  note(line: string): void {
    this.#append(`${line}\n`);
  }

  /** Hands all lines to the system, and those to the disk at most once a second of `nowNs`, any monotonic clock. */
  flush(nowNs: number): 'ok' | 'fault' {
    const done = this.#try(() => {
      this.#drain();
      if (this.#deleted) throw deleted();
      if (!this.#dirty || nowNs - this.#syncedNs < NS_PER_S) return;
      this.#syncedNs = nowNs;
      this.#disk.sync(this.#fd);
      this.#dirty = false;
      this.#deleted = !this.#disk.isNamed(this.#fd);
      if (this.#deleted) throw deleted();
    });
    return done ? 'ok' : 'fault';
  }

  /** `ringDropped` commands never got here. The file is closed even on a fault. Idempotent. */
  close(ringDropped: number): 'ok' | 'fault' {
    if (this.#fd === CLOSED) return 'ok';
    this.#append(`${footerLine(this.#partCommands, ringDropped + this.#dropped)}\n`);
    const done = this.#try(() => this.#endPart());
    this.#fd = CLOSED;
    this.#dropped += commandsIn(this.#buffer.toString('latin1', 0, this.#buffered));
    return done ? 'ok' : 'fault';
  }

  /** The next part is opened first: when that fails, the present one goes on. */
  #rotate(): void {
    this.#drain();
    const [fd, part, commands] = [this.#fd, this.#part, this.#partCommands];
    this.#openPart(part + 1);
    try {
      this.#writeAll(fd, Buffer.from(`${footerLine(commands, 0, part + 1)}\n`));
      this.#disk.sync(fd);
    } finally {
      this.#disk.close(fd);
    }
  }

  #openPart(part: number): void {
    const path = join(this.#dir, traceFileName(this.#session.startedAt, this.#session.session, part));
    const header = Buffer.from(`${headerLine(this.#session, part)}\n`);
    const fd = this.#disk.create(path);
    try {
      this.#writeAll(fd, header);
    } catch (cause) {
      this.#disk.close(fd);
      this.#disk.remove(path);
      throw cause;
    }
    this.#fd = fd;
    this.#path = path;
    this.#part = part;
    this.#partBytes = header.length;
    this.#partCommands = 0;
    this.#dirty = true;
  }

  #endPart(): void {
    try {
      this.#drain();
      this.#disk.sync(this.#fd);
      this.#deleted = !this.#disk.isNamed(this.#fd);
      if (this.#deleted) throw deleted();
    } finally {
      this.#disk.close(this.#fd);
    }
  }

  #append(ascii: string): boolean {
    if (this.#buffered + ascii.length > BUFFER_BYTES) this.#try(() => this.#drain());
    if (this.#buffered + ascii.length > BUFFER_BYTES) return false;
    this.#buffered += this.#buffer.write(ascii, this.#buffered, 'latin1');
    this.#partBytes += ascii.length;
    return true;
  }

  /** Keeps exactly what the disk did not take, so that a later attempt goes on in mid-line. */
  #drain(): void {
    let taken = 0;
    try {
      while (taken < this.#buffered) {
        taken += this.#disk.write(this.#fd, this.#buffer, taken, this.#buffered - taken);
        this.#dirty = true;
      }
    } finally {
      this.#buffer.copyWithin(0, taken, this.#buffered);
      this.#buffered -= taken;
    }
  }

  #writeAll(fd: number, bytes: Buffer): void {
    for (let taken = 0; taken < bytes.length; )
      taken += this.#disk.write(fd, bytes, taken, bytes.length - taken);
  }

  #try(operation: () => void): boolean {
    try {
      operation();
      this.#failure = null;
      return true;
    } catch (cause) {
      if (typeof (cause as NodeJS.ErrnoException).code !== 'string') throw cause;
      const hint = this.#deleted
        ? 'Leave the folder of a running operator in place; its next run writes a new trace.'
        : `Free space on the disk and make ${this.#dir} a directory this user may write to.`;
      const where = this.#path === '' ? `in ${this.#dir}` : this.#path;
      const message = `The trace ${where} cannot be written: ${reasonOf(cause as NodeJS.ErrnoException)}`;
      this.#failure = this.#lastFailure = new TeleopError('file-unwritable', message, { hint, cause });
      return false;
    }
  }
}

const deleted = (): Error => Object.assign(new Error('it was deleted'), { code: 'ENOENT' });

const reasonOf = ({ code, message }: NodeJS.ErrnoException): string =>
  code === 'ENOSPC' || code === 'EDQUOT' ? `the disk is full (${code})` : message;

/** Of lines that never reached the disk; the first may have begun there. */
const commandsIn = (text: string): number =>
  text.split('\n').filter((line, i) => line.startsWith(COMMAND_START) || (i === 0 && isTornCommand(line)))
    .length;

const COMMAND_START = '{"kind":"teleop_cmd"';
const isTornCommand = (line: string): boolean => line !== '' && !line.startsWith('{');

/** Several seconds of commands at 100 Hz. */
const BUFFER_BYTES = 256 * 1024;
/** Room kept for the footer that ends a part. */
const FOOTER_BYTES = 128;
const CLOSED = -1;
