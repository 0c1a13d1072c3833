import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RobotModel } from '../core/robot-model.ts';
import { type FlightRecord, FlightRecorder } from '../robot/supervisor/flight-recorder.ts';
import type { Rig } from './rig.ts';

/** Older files give way to newer ones; holds, which a clutch makes many of, to holds only. */
const MAX_FILES = 20;
const NAME = /^flight-\d{8}-\d{9}(-\d+)?-(hold|stopped|failed)\.jsonl$/;

interface FlightCause {
  robotNs: number | null;
  from: string;
  to: string;
  cause: string;
}

/**
 * Writes what the robot did before it stopped or held, one JSON line per control cycle after a line about the cause, to
 * `flight-<stamp>-<hold, stopped or failed>.jsonl` in the trace folder. Main thread; trouble with the disk is said once
 * and changes nothing else.
 */
export class FlightFiles {
  readonly #recorder: FlightRecorder;
  readonly #dir: string;
  readonly #about: object;
  /** Of the file before: what lies between is too little when two transitions follow each other closely. */
  #earlier: FlightRecord[] = [];
  #complained = false;
  #failed = false;

  constructor(rig: Rig, model: RobotModel, buffer: SharedArrayBuffer) {
    this.#recorder = new FlightRecorder(buffer);
    this.#dir = rig.trace.dir;
    this.#about = {
      format: 'farhand-flight/1',
      rig: rig.name,
      model: model.name,
      joints: model.joints.map(({ name }) => name),
      controlHz: rig.robot.controlHz,
    };
  }

  /** Called for every transition; those that kept a record have its number. */
  onTransition({ robotNs, from, to, cause, flight }: FlightCause & { flight: number }): void {
    if (flight < 0) return;
    this.#write({ robotNs, from, to, cause }, flight);
    this.#recorder.release(flight);
  }

  /** The control thread is gone, or about to be: what it wrote last is still in memory. */
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
      mkdirSync(this.#dir, { recursive: true });
      const kind = cause.to === '' ? 'failed' : cause.to;
      writeFileSync(this.#freePath(kind), `${text}\n`, { flag: 'wx' });
      this.#dropOldest(kind === 'hold');
    } catch (error) {
      if (!this.#complained) console.error(`farhand: no flight record written: ${(error as Error).message}`);
      this.#complained = true;
    }
  }

  #freePath(kind: string): string {
    const stamp = new Date().toISOString().slice(0, 23).replaceAll(/[-:.]/g, '').replace('T', '-');
    const taken = new Set(readdirSync(this.#dir));
    let name = `flight-${stamp}-${kind}.jsonl`;
    for (let n = 2; taken.has(name); n++) name = `flight-${stamp}-${n}-${kind}.jsonl`;
    return path.join(this.#dir, name);
  }

  #dropOldest(holds: boolean): void {
    const isOurs = (name: string) => NAME.test(name) && name.endsWith('-hold.jsonl') === holds;
    const names = readdirSync(this.#dir).filter(isOurs);
    for (const name of names.sort().slice(0, -MAX_FILES)) rmSync(path.join(this.#dir, name), { force: true });
  }
}
