import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { readdirSync, realpathSync } from 'node:fs';
import path from 'node:path';
import type { Counters } from '../core/counters.ts';
import { monotonicClock } from '../core/time/clock.ts';
import { emptyControls, encodeControls, MAX_CONTROLS_BYTES } from './codecs/controls-codec.ts';
import { EvdevState } from './codecs/evdev-codec.ts';
import type { InputFile } from './device.ts';

/** A device file with the port of the input's socket. */
export interface OpenFile extends InputFile {
  toPort: number;
}

const BY_ID = '/dev/input/by-id';
const PERIOD_MS = 20;
const RETRY_MS = 1000;

/** Device files of the inputs, on the main thread: the state of each goes to the control thread as datagrams. */
export class DeviceFiles {
  readonly #readers: FileReader[];

  constructor(files: readonly OpenFile[], counters: Counters, say: (text: string) => void) {
    this.#readers = files.map((file) => new FileReader(file, counters, say));
  }

  close(): void {
    for (const reader of this.#readers) reader.close();
  }
}

/**
 * Reads one file through `cat`: Node reads such files in its thread pool, where a read that waits for the next
 * event keeps the process from ending.
 */
class FileReader {
  readonly #file: OpenFile;
  readonly #counters: Counters;
  readonly #say: (text: string) => void;
  readonly #state = new EvdevState();
  readonly #controls = emptyControls();
  readonly #bytes = new Uint8Array(MAX_CONTROLS_BYTES);
  readonly #udp: Socket = createSocket('udp4').on('error', () => {});
  readonly #timer: NodeJS.Timeout;
  #child: ChildProcess | null = null;
  #retry: NodeJS.Timeout | null = null;
  #said = '';
  #isClosed = false;

  constructor(file: OpenFile, counters: Counters, say: (text: string) => void) {
    this.#file = file;
    this.#counters = counters;
    this.#say = say;
    this.#timer = setInterval(() => this.#send(), PERIOD_MS);
    this.#open();
  }

  #open(): void {
    if (this.#isClosed) return;
    const { name, key } = this.#file;
    const found = findFile(this.#file);
    if (found === null) {
      this.#report(`${name}: not plugged in. Plug it in, or set ${key} to its file in ${BY_ID}.`);
      return this.#openLater();
    }
    const child = spawn('cat', [found], { stdio: ['ignore', 'pipe', 'pipe'] });
    let trouble = '';
    child.on('error', (error) => {
      trouble = error.message;
    });
    child.stderr.on('data', (text: Buffer) => {
      trouble = String(text).trim();
    });
    child.stdout.on('data', (bytes: Buffer) => {
      this.#child = child;
      this.#state.take(bytes, monotonicClock.nowNs());
      this.#send();
    });
    child.on('spawn', () => {
      this.#child = child;
    });
    child.on('close', () => this.#ended(found, trouble));
  }

  #ended(file: string, trouble: string): void {
    this.#child = null;
    this.#state.clear();
    if (this.#isClosed) return;
    const remedy = /permission/i.test(trouble) ? 'Add yourself to the group "input" and log in again.' : '';
    this.#report(`${this.#file.name}: ${trouble || `${file} was unplugged`}. ${remedy}`.trim());
    this.#openLater();
  }

  #openLater(): void {
    this.#retry = setTimeout(() => this.#open(), RETRY_MS);
  }

  /** Once, not at every retry. */
  #report(text: string): void {
    if (text !== this.#said) this.#say(text);
    this.#said = text;
  }

  #send(): void {
    if (this.#child === null) return;
    this.#state.fill(monotonicClock.nowNs(), this.#controls);
    const length = encodeControls(this.#controls, this.#bytes);
    this.#udp.send(this.#bytes.slice(0, length), this.#file.toPort, '127.0.0.1', (error) => {
      if (error && !this.#isClosed) this.#counters.add('send-failed');
    });
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#child?.kill();
    this.#udp.close();
  }
}

function findFile({ path: file, match }: InputFile): string | null {
  try {
    if (file !== 'auto') return realpathSync(file);
    const name = readdirSync(BY_ID)
      .sort()
      .find((entry) => match.test(entry));
    return name === undefined ? null : realpathSync(path.join(BY_ID, name));
  } catch {
    return null;
  }
}
