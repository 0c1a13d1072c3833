import type { CanFrame } from '../../src/robot/buses/can-frame.ts';
import type { Pty } from '../../src/robot/buses/pty.ts';
import type { Plant } from '../plant.ts';
import { SlcanAdapter } from './adapter.ts';
import { PiperArm } from './arm.ts';
import { answersTo, FEEDBACK_HZ, FeedbackRound } from './feedback.ts';
import { piperModel } from './model.ts';

export interface SimulationOptions {
  firmware: 'new' | 'old';
  startRad?: readonly number[];
  plant?: Plant | null;
  leader?: boolean;
  acknowledges?: boolean;
  /** Share of the 3,040 feedback frames per second; default 1. */
  feedbackShare?: number;
  onEvent?(what: string): void;
}

const VERSIONS = { new: 'S-V1.8-2', old: 'S-V1.5-2' } as const;
/** After a stall the arm catches up by at most this much; its bus could not carry more. */
const MAX_CATCH_UP_MS = 20;
const STEP_S = 1e-3;

/** An arm behind a serial adapter. `tick` does what is due: commands in, motion, feedback out in one batch. */
export class PiperSimulation {
  readonly arm: PiperArm;
  readonly adapter: SlcanAdapter;
  readonly #round: FeedbackRound;
  readonly #answers: CanFrame[] = [];
  #atMs: number | null = null;
  readonly #framesPerMs: number;
  #dueFrames = 0;
  /** Called with every command received. */
  onCommand: (frame: CanFrame) => void = () => {};

  constructor(pty: Pty, options: SimulationOptions) {
    const { firmware, plant = null, leader = false, onEvent = () => {} } = options;
    const startRad = options.startRad ?? (plant === null ? [0, 0, 0, 0, 0, 0] : [...plant.positionsRad]);
    this.arm = new PiperArm({
      model: piperModel(firmware),
      firmware: VERSIONS[firmware],
      startRad,
      plant,
      leader,
      onEvent,
    });
    this.#framesPerMs = ((options.feedbackShare ?? 1) * FEEDBACK_HZ) / 1000;
    this.#round = new FeedbackRound(this.arm);
    this.adapter = new SlcanAdapter(pty, {
      acknowledges: options.acknowledges ?? true,
      onFrame: (frame) => {
        this.onCommand(frame);
        this.arm.take(frame);
        this.#answers.push(...answersTo(frame, this.arm));
      },
    });
  }

  tick(nowMs: number): void {
    this.adapter.poll();
    const passedMs = Math.min(MAX_CATCH_UP_MS, nowMs - (this.#atMs ?? nowMs));
    const steps = Math.floor(passedMs);
    for (let i = 0; i < steps; i++) this.arm.step(STEP_S);
    this.#atMs = nowMs - (passedMs - steps);
    this.#dueFrames += steps * this.#framesPerMs;
    for (; this.#dueFrames >= 1; this.#dueFrames--) {
      const frame = this.#round.next();
      if (frame !== null) this.adapter.receive(frame, nowMs);
    }
    for (const frame of this.#answers) this.adapter.receive(frame, nowMs);
    this.#answers.length = 0;
    this.adapter.flush();
  }
}
