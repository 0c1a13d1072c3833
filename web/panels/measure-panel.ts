import type { RobotModel } from '../../src/geometry/robot-model.ts';
import type { CalibrationPose } from '../../src/mapping/retarget/calibration.ts';
import { CalibrationRun, POSE_PROMPTS } from '../../src/mapping/retarget/calibration-run.ts';
import type { DeskRequest, Telemetry } from '../../src/messages/telemetry.ts';
import { element, setText } from '../dom.ts';
import { drawPose } from '../view/pose-picture.ts';
import { PersonName } from './person-name.ts';

/**
 * Measures the tracked hand in six poses, with pictures, and sends the result to the operator. Offered for robot hands with
 * finger geometry, while a hand is tracked and the robot does not follow it.
 */
export class MeasurePanel {
  readonly #form = element('measure', HTMLFormElement);
  readonly #name = new PersonName('measure-name');
  readonly #start = element('measure-start', HTMLButtonElement);
  readonly #panel = element('measure-run', HTMLElement);
  readonly #prompt = element('measure-prompt', HTMLElement);
  readonly #note = element('measure-note', HTMLElement);
  readonly #progress = element('measure-progress', HTMLProgressElement);
  readonly #picture = element('measure-picture', HTMLCanvasElement);
  readonly #send: (request: DeskRequest) => void;
  #model: RobotModel | null = null;
  #run: CalibrationRun | null = null;
  #drawn = '';

  constructor(send: (request: DeskRequest) => void) {
    this.#send = send;
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (this.#model !== null) this.#run = new CalibrationRun(this.#model, performance.now());
    });
    element('measure-cancel', HTMLButtonElement).addEventListener('click', () => this.#end('Cancelled.'));
  }

  setModel(model: RobotModel): void {
    this.#model = model.hand === undefined ? null : model;
    this.#run = null;
  }

  show({ hand, robot }: Telemetry, nowMs: number): void {
    const pointsM = hand?.pointsM ?? null;
    const follows = robot?.state === 'engaged';
    this.#form.hidden = this.#model === null || this.#run !== null;
    this.#start.disabled = pointsM === null || follows;
    this.#start.title = follows ? 'Open the clutch first.' : pointsM === null ? 'No hand is tracked.' : '';
    this.#panel.hidden = this.#run === null;
    if (this.#run === null) return;
    if (follows) return this.#end('The robot follows your hand: open the clutch, then measure again.');
    this.#run.update(nowMs, pointsM, hand?.isLeft ?? false);
    if (this.#run.person !== null) return this.#finish(this.#run.person);
    this.#guide(this.#run, nowMs, hand?.isLeft ?? false);
  }

  #guide(run: CalibrationRun, nowMs: number, isLeft: boolean): void {
    setText(this.#prompt, POSE_PROMPTS[run.pose]);
    const left = Math.ceil(run.secondsLeft(nowMs));
    const again = run.trouble === '' ? '' : ` Again, please: ${run.trouble}.`;
    setText(this.#note, run.phase === 'hold' ? `Hold still … ${left}` : `In ${left} s.${again}`);
    this.#progress.value = run.share;
    this.#draw(run.pose, isLeft);
  }

  #finish(person: NonNullable<CalibrationRun['person']>): void {
    const name = this.#name.take();
    this.#send({ kind: 'person', name, person });
    this.#end(
      `Measured. The robot uses it from the next engagement on; operator.hand.person=${name} uses it later.`,
    );
  }

  #end(note: string): void {
    this.#run = null;
    this.#panel.hidden = true;
    this.#start.textContent = 'Measure my hand again';
    this.#start.setAttribute('aria-description', note);
    setText(element('fingers-side', HTMLElement), note);
  }

  #draw(pose: CalibrationPose, isLeft: boolean): void {
    const key = `${pose} ${isLeft}`;
    if (key === this.#drawn) return;
    this.#drawn = key;
    const { clientWidth, clientHeight } = this.#picture;
    this.#picture.width = clientWidth * devicePixelRatio;
    this.#picture.height = clientHeight * devicePixelRatio;
    const context = this.#picture.getContext('2d');
    if (context === null) return;
    const { width, height } = this.#picture;
    const colour = getComputedStyle(this.#picture).getPropertyValue('--hand');
    drawPose(context, pose, isLeft, { x: 0, y: 0, width, height }, colour);
  }
}
