import { createRobotHandPoints, type RobotHandPoints } from '../../src/geometry/hand-points.ts';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import { HAND_NUMBERS, HAND_POINTS } from '../../src/hand/points.ts';
import { HAND_BONES, projectHand } from '../../src/hand/projection.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { element, setText } from '../dom.ts';

/** Palm length as a fraction of the canvas height. */
const PALM_SHARE = 0.42;

/** Draws the tracked hand and, for a robot hand, the robot beside it. Hidden without either. */
export class FingersPanel {
  readonly #panel = element('fingers', HTMLElement);
  readonly #side = element('fingers-side', HTMLElement);
  readonly #canvas = element('fingers-view', HTMLCanvasElement);
  readonly #flat = new Float64Array(2 * HAND_POINTS);
  readonly #robotM = new Float64Array(HAND_NUMBERS);
  #robotPoints: RobotHandPoints | null = null;
  #isLeftRobot = false;

  setModel(model: RobotModel): void {
    this.#robotPoints = createRobotHandPoints(model);
    this.#isLeftRobot = model.mirrored === true;
  }

  show({ hand, robot }: Telemetry): void {
    const points = hand?.pointsM ?? null;
    const drawsRobot = this.#robotPoints !== null && robot !== null;
    this.#panel.hidden = points === null && !drawsRobot;
    if (this.#panel.hidden) return;
    const isLeft = hand?.isLeft ?? false;
    setText(this.#side, points === null ? 'no hand tracked' : isLeft ? 'left hand' : 'right hand');
    const context = this.#clear();
    if (context === null) return;
    const at = drawsRobot ? 0.28 : 0.5;
    if (points !== null) this.#draw(context, points, isLeft, at, '--hand');
    if (!drawsRobot) return;
    this.#robotPoints!.fill(robot.measuredRad, this.#robotM);
    this.#draw(context, this.#robotM, this.#isLeftRobot, 0.72, '--robot');
  }

  #clear(): CanvasRenderingContext2D | null {
    const { clientWidth, clientHeight } = this.#canvas;
    const [width, height] = [clientWidth * devicePixelRatio, clientHeight * devicePixelRatio].map(Math.round);
    if (this.#canvas.width !== width) this.#canvas.width = width!;
    if (this.#canvas.height !== height) this.#canvas.height = height!;
    const context = this.#canvas.getContext('2d');
    context?.clearRect(0, 0, width!, height!);
    return context;
  }

  #draw(
    context: CanvasRenderingContext2D,
    pointsM: ArrayLike<number>,
    isLeft: boolean,
    acrossShare: number,
    colour: string,
  ): void {
    const { width, height } = this.#canvas;
    projectHand(pointsM, isLeft, this.#flat);
    const x = (i: number) => acrossShare * width + PALM_SHARE * height * this.#flat[2 * i]!;
    const y = (i: number) => 0.9 * height - PALM_SHARE * height * this.#flat[2 * i + 1]!;
    context.strokeStyle = context.fillStyle = getComputedStyle(this.#canvas).getPropertyValue(colour);
    context.lineWidth = height / 60;
    context.lineCap = 'round';
    context.beginPath();
    for (const [a, b] of HAND_BONES) {
      context.moveTo(x(a), y(a));
      context.lineTo(x(b), y(b));
    }
    context.stroke();
    for (let i = 0; i < HAND_POINTS; i++) {
      context.beginPath();
      context.arc(x(i), y(i), height / 45, 0, 2 * Math.PI);
      context.fill();
    }
  }
}
