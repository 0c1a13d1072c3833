import { join } from 'node:path';
import { TeleopError } from '../core/errors.ts';
import { NS_PER_S } from '../core/time/clock.ts';
import type { TraceRecord } from '../messages/trace-record.ts';
import { type Disk, nodeDisk } from './disk.ts';
import { traceFileName } from './file-name.ts';
import { footerLine, headerLine, type TraceSession, traceLine } from './stamps.ts';

export interface TraceFileOptions {
  /** A part is completed before it exceeds this size. Default 256 MiB. */
  maxPartBytes?: number;
  disk?: Disk;
}

/**
 * Writes a trace with blocking calls: run it on its own thread. After a disk failure, buffered lines are
 * retried at the next flush, `failure` holds the reason, and `dropped` counts the commands that no longer
 * fitted into the buffer.
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
  /** The last failure, even if the disk has recovered since. */
  #lastFailure: TeleopError | null = null;
  #deleted = false;

  private constructor(dir: string, session: TraceSession, options: TraceFileOptions) {
    this.#dir = dir;
    this.#session = session;
    this.#maxPartBytes = options.maxPartBytes ?? 256 * 2 ** 20;
    this.#disk = options.disk ?? nodeDisk;
  }

  /** Creates the directory and the first part; throws if it cannot. */
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

  /** Why the disk last failed; null once it works again. */
  get failure(): TeleopError | null {
    return this.#failure;
  }

  /** What the file permanently lacks because of the disk, and why; empty if nothing. Known after `close`. */
  get loss(): string {
    if (this.#lastFailure === null || (this.#failure === null && this.#dropped === 0)) return '';
    const lacks = this.#dropped > 0 ? ` ${this.#dropped} commands are missing.` : '';
    return `${this.#lastFailure.message}.${lacks} ${this.#lastFailure.hint}`;
  }

  write(record: TraceRecord): void {
    const line = `${traceLine(record)}\n`;
    const full = this.#partBytes + line.length + FOOTER_BYTES > this.#maxPartBytes;
    if (full && this.#partCommands > 0) this.#try(() => this.#rotate());
    if (this.#append(line)) this.#partCommands++;
    else this.#dropped++;
  }

  /** A line of another kind than a command, from `stamps.ts`; dropped if there is no room. */
  note(line: string): void {
    this.#append(`${line}\n`);
  }

  /**
   * Hands all lines to the operating system, and syncs them to disk at most once a second (any monotonic
   * clock).
   */
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

  /** `ringDropped` commands never arrived here. Closes the file even on a fault. Idempotent. */
  close(ringDropped: number): 'ok' | 'fault' {
    if (this.#fd === CLOSED) return 'ok';
    this.#append(`${footerLine(this.#partCommands, ringDropped + this.#dropped)}\n`);
    const done = this.#try(() => this.#endPart());
    this.#fd = CLOSED;
    this.#dropped += commandsIn(this.#buffer.toString('latin1', 0, this.#buffered));
    return done ? 'ok' : 'fault';
  }

  /** Opens the next part first: if that fails, the current one continues. */
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

  /** Keeps exactly what the disk did not accept, so that a later attempt continues mid-line. */
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
        ? 'Do not delete the folder while the operator runs; its next run writes a new trace.'
        : `Free some disk space and make sure that this user may write to ${this.#dir}.`;
      const where = this.#path === '' ? `in ${this.#dir}` : this.#path;
      const message = `The trace ${where} cannot be written: ${reasonOf(cause as NodeJS.ErrnoException)}`;
      this.#failure = this.#lastFailure = new TeleopError('file-unwritable', message, { hint, cause });
      return false;
    }
  }
}

const deleted = (): Error => Object.assign(new Error('the file was deleted'), { code: 'ENOENT' });

const reasonOf = ({ code, message }: NodeJS.ErrnoException): string =>
  code === 'ENOSPC' || code === 'EDQUOT' ? `the disk is full (${code})` : message;

/** Commands in lines that never reached the disk; the first line may be there in part. */
const commandsIn = (text: string): number =>
  text.split('\n').filter((line, i) => line.startsWith(COMMAND_START) || (i === 0 && isTornCommand(line)))
    .length;

const COMMAND_START = '{"kind":"teleop_cmd"';
const isTornCommand = (line: string): boolean => line !== '' && !line.startsWith('{');

/** Several seconds of commands at 100 Hz. */
const BUFFER_BYTES = 256 * 1024;
/** Space reserved for the footer of a part. */
const FOOTER_BYTES = 128;
const CLOSED = -1;
