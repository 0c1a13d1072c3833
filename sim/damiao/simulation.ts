import type { CanFrame } from '../../src/robot/buses/can-frame.ts';
import type { Pty } from '../../src/robot/buses/pty.ts';
import { SlcanAdapter } from '../piper/adapter.ts';
import { SimArm, type SimArmOptions } from './arm.ts';
import { UsbAdapter } from './usb-adapter.ts';

export interface SimulationOptions extends SimArmOptions {
  /** slcan: LAWICEL's text; damiao: the vendor's serial adapter. */
  adapter: 'slcan' | 'damiao';
}

/** After a stall the arm catches up by at most this much. */
const MAX_CATCH_UP_MS = 20;
const STEP_S = 1e-3;

/** An arm behind a serial adapter. `tick` does what is due: motion, commands in, replies out. */
export class DamiaoSimulation {
  readonly arm: SimArm;
  readonly #poll: () => void;
  readonly #reply: (frame: CanFrame) => void;
  readonly #flush: () => void;
  #atMs: number | null = null;
  #nowMs = 0;
  /** Called with every command received. */
  onCommand: (frame: CanFrame) => void = () => {};

  constructor(pty: Pty, options: SimulationOptions) {
    this.arm = new SimArm(options);
    const onFrame = (frame: CanFrame): void => {
      this.onCommand(frame);
      const reply = this.arm.take(frame);
      if (reply !== null) this.#reply(reply);
    };
    if (options.adapter === 'slcan') {
      const adapter = new SlcanAdapter(pty, { acknowledges: true, onFrame });
      this.#poll = () => adapter.poll();
      this.#reply = (frame) => adapter.receive(frame, this.#nowMs);
      this.#flush = () => adapter.flush();
    } else {
      const adapter = new UsbAdapter(pty, onFrame);
      this.#poll = () => adapter.poll();
      this.#reply = (frame) => adapter.receive(frame);
      this.#flush = () => adapter.flush();
    }
  }

  tick(nowMs: number): void {
    const passedMs = Math.min(MAX_CATCH_UP_MS, nowMs - (this.#atMs ?? nowMs));
    const steps = Math.floor(passedMs);
    for (let i = 0; i < steps; i++) this.arm.step(STEP_S);
    this.#atMs = nowMs - (passedMs - steps);
    this.#nowMs = nowMs;
    this.#poll();
    this.#flush();
  }
}
