import type { RobotModel } from '../../src/geometry/robot-model.ts';
import type { CalibrationPose } from '../../src/mapping/retarget/calibration.ts';
import { CalibrationRun, POSE_PROMPTS } from '../../src/mapping/retarget/calibration-run.ts';
import type { DeskRequest, Telemetry } from '../../src/messages/telemetry.ts';
import { element } from '../dom.ts';
import { PersonName } from '../panels/person-name.ts';

/** How long the result stays on the board. */
const SHOWN_MS = 4000;

/** What the board shows while a hand is measured. */
export interface MeasureGuide {
  /** Title, what to do, what went wrong, countdown. */
  lines: readonly string[];
  /** The pose to draw; null: none. */
  pose: CalibrationPose | null;
  isLeft: boolean;
}

/** Measures the wearer's driving hand in six poses; the board shows what to do. Only for robot hands. */
export class HeadsetMeasure {
  readonly #send: (request: DeskRequest) => void;
  readonly #name = new PersonName('measure-name');
  readonly #form = element('measure', HTMLElement);
  #isLeft = false;
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
    this.#form.hidden = this.#model === null;
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
    this.#isLeft = hand?.isLeft ?? false;
    this.#run.update(nowMs, hand?.pointsM ?? null, this.#isLeft);
    const { person } = this.#run;
    if (person === null) return;
    const name = this.#name.take();
    this.#send({ kind: 'person', name, person });
    this.#end(`Measured and stored as “${name}”. The robot uses it from the next engagement on.`);
  }

  /** Null: nothing to show. */
  guide(nowMs: number): MeasureGuide | null {
    const [run, isLeft] = [this.#run, this.#isLeft];
    if (run === null) {
      if (nowMs - this.#resultMs >= SHOWN_MS) return null;
      return { lines: ['MEASURE', this.#result], pose: null, isLeft };
    }
    const left = Math.ceil(run.secondsLeft(nowMs));
    const lines = [
      run.phase === 'hold' ? 'HOLD STILL' : 'GET READY',
      POSE_PROMPTS[run.pose],
      run.trouble === '' ? '' : `again: ${run.trouble}`,
      `${left} s · pose ${Math.round(run.share * 6) + 1} of 6`,
    ];
    return { lines, pose: run.pose, isLeft };
  }

  #end(result: string): void {
    this.#run = null;
    this.#result = result;
    this.#resultMs = performance.now();
  }
}
