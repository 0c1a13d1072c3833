import type { RobotModel } from '../../src/geometry/robot-model.ts';
import { HAND_SHAPES, type HandShapeName, shapeHand } from '../../src/hand/model-hand.ts';
import { HAND_NUMBERS } from '../../src/hand/points.ts';
import { HAND_BONES } from '../../src/hand/projection.ts';
import type { CalibrationPose } from '../../src/mapping/retarget/calibration.ts';
import { CalibrationRun, POSE_PROMPTS } from '../../src/mapping/retarget/calibration-run.ts';
import type { DeskRequest, Telemetry } from '../../src/messages/telemetry.ts';
import { element, setText } from '../dom.ts';

/** Shapes that show the poses. */
const PICTURES: Readonly<Record<CalibrationPose, HandShapeName>> = {
  open: 'open',
  fist: 'fist',
  index: 'pinch',
  middle: 'pinch-middle',
  ring: 'pinch-ring',
  pinky: 'pinch-pinky',
};
/** Picture heights per metre. */
const PX_PER_M = 4.6;
/** Shares of the view from the palm's side and from the thumb's. */
const ASIDE = 0.5;
const FORWARD = 0.87;
const TIPS = [4, 8, 12, 16, 20];

/**
 * Measures the tracked hand in six poses, with pictures, and sends the result to the operator. Offered for robot hands with
 * finger geometry, while a hand is tracked and the robot does not follow it.
 */
export class MeasurePanel {
  readonly #form = element('measure', HTMLFormElement);
  readonly #name = element('measure-name', HTMLInputElement);
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
    const name = this.#name.value.trim() || 'me';
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
    const pointsM = new Float64Array(HAND_NUMBERS);
    shapeHand(HAND_SHAPES[PICTURES[pose]], { positionM: [0, 0, 0], pitchRad: 0 }, isLeft, pointsM);
    const { width, height } = this.#picture;
    const colour = getComputedStyle(this.#picture).getPropertyValue('--hand');
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = height / 26;
    context.lineCap = 'round';
    const mirror = isLeft ? -1 : 1;
    // From the thumb's side: there a pinch is a ring. The model's fingers point to −z, its palm down.
    const at = (i: number): [number, number] => [
      width * (0.5 + mirror * -0.18) +
        mirror * PX_PER_M * height * (-ASIDE * mirror * pointsM[3 * i]! - FORWARD * pointsM[3 * i + 1]!),
      0.95 * height + PX_PER_M * height * pointsM[3 * i + 2]!,
    ];
    context.beginPath();
    for (const [a, b] of HAND_BONES) {
      context.moveTo(...at(a));
      context.lineTo(...at(b));
    }
    context.stroke();
    for (const tip of TIPS) {
      context.beginPath();
      context.arc(...at(tip), height / 30, 0, 2 * Math.PI);
      context.fill();
    }
  }
}
