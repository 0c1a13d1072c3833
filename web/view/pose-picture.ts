import { HAND_SHAPES, type HandShapeName, shapeHand } from '../../src/hand/model-hand.ts';
import { HAND_NUMBERS } from '../../src/hand/points.ts';
import { HAND_BONES } from '../../src/hand/projection.ts';
import type { CalibrationPose } from '../../src/mapping/retarget/calibration.ts';

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

export interface PictureBox {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Draws the hand that a person is asked to show, from the thumb's side: there a pinch is a ring. */
export function drawPose(
  context: CanvasRenderingContext2D,
  pose: CalibrationPose,
  isLeft: boolean,
  { x, y, width, height }: PictureBox,
  colour: string,
): void {
  const pointsM = new Float64Array(HAND_NUMBERS);
  shapeHand(HAND_SHAPES[PICTURES[pose]], { positionM: [0, 0, 0], pitchRad: 0 }, isLeft, pointsM);
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = height / 26;
  context.lineCap = 'round';
  const mirror = isLeft ? -1 : 1;
  // The model's fingers point to −z, its palm down.
  const at = (i: number): [number, number] => [
    x +
      width * (0.5 + mirror * -0.18) +
      mirror * PX_PER_M * height * (-ASIDE * mirror * pointsM[3 * i]! - FORWARD * pointsM[3 * i + 1]!),
    y + 0.95 * height + PX_PER_M * height * pointsM[3 * i + 2]!,
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
