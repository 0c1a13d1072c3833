import type { RobotModel } from '../../src/geometry/robot-model.ts';
import { CalibrationRun, POSE_PROMPTS } from '../../src/mapping/retarget/calibration-run.ts';
import type { DeskRequest, Telemetry } from '../../src/messages/telemetry.ts';

/** The name under which a hand that was measured in the headset is stored. */
const NAME = 'headset';
/** How long the result stays on the board. */
const SHOWN_MS = 4000;

/** Measures the wearer's driving hand in six poses; the board shows what to do. Only for robot hands. */
export class HeadsetMeasure {
  readonly #send: (request: DeskRequest) => void;
  #model: RobotModel | null = null;
  #run: CalibrationRun | null = null;
  #result = '';
  #resultMs = Number.NEGATIVE_INFINITY;

  constructor(send: (request: DeskRequest) => void) {
    this.#send = send;
  }

  get isOffered(): boolean {
    return this.#model !== null;
  }

  get isRunning(): boolean {
    return this.#run !== null;
  }

  /** A measurement goes on when the page reconnects to the same hand. */
  setModel(model: RobotModel): void {
    if (model.name === this.#model?.name) return;
    this.#model = model.hand === undefined ? null : model;
    this.#run = null;
  }

  /** Starts, or cancels. */
  toggle(): void {
    if (this.#run === null && this.#model !== null)
      this.#run = new CalibrationRun(this.#model, performance.now());
    else this.#end('Cancelled.');
  }

  show({ hand, robot }: Telemetry, nowMs: number): void {
    if (this.#run === null) return;
    if (robot?.state === 'engaged') return this.#end('The robot follows your hand: open the clutch first.');
    this.#run.update(nowMs, hand?.pointsM ?? null, hand?.isLeft ?? false);
    const { person } = this.#run;
    if (person === null) return;
    this.#send({ kind: 'person', name: NAME, person });
    this.#end('Measured. The robot uses it from the next engagement on.');
  }

  /** Lines for the board; null: nothing to show. */
  guide(nowMs: number): readonly string[] | null {
    const run = this.#run;
    if (run === null) return nowMs - this.#resultMs < SHOWN_MS ? ['MEASURE', this.#result, ''] : null;
    const left = Math.ceil(run.secondsLeft(nowMs));
    return [
      run.phase === 'hold' ? 'HOLD STILL' : 'GET READY',
      POSE_PROMPTS[run.pose],
      run.trouble === '' ? '' : `again: ${run.trouble}`,
      `${left} s · pose ${Math.round(run.share * 6) + 1} of 6`,
    ];
  }

  #end(result: string): void {
    this.#run = null;
    this.#result = result;
    this.#resultMs = performance.now();
  }
}
