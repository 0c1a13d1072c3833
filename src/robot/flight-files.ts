import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../core/errors.ts';
import { writeWhole } from '../files/write-whole.ts';
import { type FlightRecord, FlightRecorder } from './supervisor/flight-recorder.ts';

/** Newer files replace older ones. Holds are counted separately, since a clutch causes many. */
const MAX_FILES = 20;
/** Stamp and number within its millisecond. Older versions wrote no number, which means 1. */
const NAME = /^flight-(\d{8}-\d{9})(?:-(\d+))?-(hold|stopped|failed)\.jsonl$/;

/** Of which robot the files are, and where they go: no folder, no files. */
export interface FlightPlace {
  dir: string;
  rig: string;
  model: string;
  joints: readonly string[];
  controlHz: number;
}

interface FlightCause {
  robotNs: number | null;
  from: string;
  to: string;
  cause: string;
}

/**
 * Writes what the robot did before it stopped or held to `flight-<stamp>-<number>-<hold, stopped or
 * failed>.jsonl` in the trace folder: one line about the cause, then one JSON line per control cycle. Main
 * thread; disk errors are reported once and have no other effect.
 */
export class FlightFiles {
  readonly #recorder: FlightRecorder;
  readonly #dir: string;
  readonly #about: object;
  readonly #now: () => Date;
  /** Cycles of the previous file: when two transitions follow closely, those in between are too few. */
  #earlier: FlightRecord[] = [];
  #trouble = '';
  #failed = false;

  /** `now`: the wall clock, for the names. */
  constructor({ dir, ...robot }: FlightPlace, buffer: SharedArrayBuffer, now: () => Date) {
    this.#recorder = new FlightRecorder(buffer);
    this.#dir = dir;
    this.#about = { format: 'farhand-flight/1', ...robot };
    this.#now = now;
  }

  /** Why the last failed record was not written; empty if none failed. */
  get trouble(): string {
    return this.#trouble;
  }

  /** Called for every transition; those with a flight record carry its number. */
  onTransition({ robotNs, from, to, cause, flight }: FlightCause & { flight: number }): void {
    if (flight < 0) return;
    this.#write({ robotNs, from, to, cause }, flight);
    this.#recorder.release(flight);
  }

  /** The control thread has ended or is about to: its last cycles are still in memory. */
  onFailure(cause: string): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#write({ robotNs: null, from: '', to: '', cause }, this.#recorder.active);
  }

  #write(cause: FlightCause, slab: number): void {
    const records = [...this.#earlier, ...this.#recorder.read(slab)].slice(-this.#recorder.capacity);
    this.#earlier = records;
    if (this.#dir === '' || records.length === 0) return;
    const lines = [{ ...this.#about, ...cause }, ...records];
    const text = lines.map((line) => JSON.stringify(line)).join('\n');
    try {
      const kind = cause.to === '' ? 'failed' : cause.to;
      const file = this.#freePath(kind);
      writeWhole(file, `${text}\n`, { folderMode: 0o755, replace: false, durable: false });
      this.#dropOldest(kind === 'hold', path.basename(file));
    } catch (error) {
      if (typeof (error as NodeJS.ErrnoException).code !== 'string') throw error;
      const isNew = this.#trouble === '';
      const hint = error instanceof TeleopError ? ` ${error.hint}` : '';
      this.#trouble = `No flight record written: ${(error as Error).message}.${hint}`;
      if (isNew) console.error(`farhand: ${this.#trouble}`);
    }
  }

  #freePath(kind: string): string {
    const stamp = this.#now().toISOString().slice(0, 23).replaceAll(/[-:.]/g, '').replace('T', '-');
    const places = this.#names().filter((name) => NAME.exec(name)?.[1] === stamp);
    const number = 1 + Math.max(0, ...places.map(numberOf));
    return path.join(this.#dir, `flight-${stamp}-${String(number).padStart(4, '0')}-${kind}.jsonl`);
  }

  #names(): string[] {
    return existsSync(this.#dir) ? readdirSync(this.#dir).filter((name) => NAME.test(name)) : [];
  }

  /** Never removes the file just written: the wall clock may have been set back. */
  #dropOldest(holds: boolean, written: string): void {
    const names = this.#names().filter((name) => name.endsWith('-hold.jsonl') === holds && name !== written);
    const oldest = names.sort(byAge).slice(0, -(MAX_FILES - 1));
    for (const name of oldest) rmSync(path.join(this.#dir, name), { force: true });
  }
}

const numberOf = (name: string): number => Number(NAME.exec(name)?.[2] ?? 1);

/** Oldest first, by stamp and then by number: `-2-` comes before `-10-`. */
export function byAge(a: string, b: string): number {
  const [stampA = '', stampB = ''] = [a, b].map((name) => NAME.exec(name)?.[1]);
  return stampA < stampB ? -1 : stampA > stampB ? 1 : numberOf(a) - numberOf(b);
}
