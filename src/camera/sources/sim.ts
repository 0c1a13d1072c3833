import { z } from 'zod';
import { createRobotHandPoints } from '../../geometry/hand-points.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';
import { drawStrip, stripValue } from '../bit-strip.ts';
import { drawText, emptyPicture, fillRect, timeCode } from '../drawing.ts';
import { HandView } from '../render/hand-view.ts';
import { RobotView } from '../render/robot-view.ts';
import type { RgbPicture, SourcePlugin } from '../source.ts';

const point = z.tuple([z.number(), z.number(), z.number()]);
const config = z.strictObject({
  mount: z
    .enum(['scene', 'wrist'])
    .default('scene')
    .describe('scene: fixed in place; wrist: beside the flange, looking along the tool'),
  eyeM: point
    .optional()
    .describe('scene: where the camera is, base frame; default: in front of the robot, right of its middle'),
  targetM: point.optional().describe('scene: what it looks at, base frame; default: the middle of the robot'),
  fovRad: z.number().min(0.2).max(2).default(0.9).describe('horizontal field of view'),
  strip: z
    .boolean()
    .default(false)
    .describe('draw frame number and time as light and dark cells along the bottom edge'),
});

const ARM = { eyeM: [0.85, -0.75, 0.65], targetM: [0.1, 0, 0.25] } as const;
/** In front of the palm of a hand that stands on its wrist. */
const HAND = { eyeM: [0.3, -0.16, 0.24], targetM: [0.02, 0, 0.13] } as const;

type Draw = (jointsRad: Float64Array, gripper: number) => RgbPicture;

/** Null for a hand without finger geometry. */
function viewOf(
  model: RobotModel,
  size: { widthPx: number; heightPx: number },
  { mount, eyeM, targetM, fovRad }: Omit<z.infer<typeof config>, 'strip'>,
): Draw | null {
  const isHand = model.family === 'hand';
  const near = isHand ? HAND : ARM;
  const options = { ...size, mount, fovRad, eyeM: eyeM ?? near.eyeM, targetM: targetM ?? near.targetM };
  if (!isHand) {
    const view = new RobotView(model, options);
    return (jointsRad, gripper) => view.draw(jointsRad, gripper);
  }
  const hand = createRobotHandPoints(model);
  const view = hand && new HandView(hand, options);
  return view && ((jointsRad) => view.draw(jointsRad));
}

/**
 * Draws what a camera would see of the robot in this process, from its measured joint angles. Needs no GPU.
 */
const plugin: SourcePlugin<z.infer<typeof config>> = {
  about: 'a drawn view of the robot in this process',
  config,
  async open({ strip, ...options }, { widthPx, heightPx }, host) {
    const { model } = host.robot;
    const joints = Float64Array.from(model.homeRad);
    const draw = viewOf(model, { widthPx, heightPx }, options);
    const blank: RgbPicture = emptyPicture(widthPx, heightPx);
    const scale = Math.max(1, Math.round(widthPx / 213));
    let frame = 0;
    let open = true;
    host.everyFrame((captureNs) => {
      if (!open) return;
      const gripper = host.robot.read(joints);
      const known = !Number.isNaN(gripper);
      const picture = draw?.(joints, model.gripper && known ? gripper : Number.NaN) ?? blank;
      const note = draw === null ? 'NO FINGER GEOMETRY' : known ? '' : 'NO ROBOT';
      fillRect(picture, 0, 0, (4 * (13 + note.length) + 4) * scale, 7 * scale, [24, 28, 34]);
      drawText(picture, 2 * scale, scale, `${timeCode(captureNs)} ${note}`, scale, [240, 240, 240]);
      if (strip) drawStrip(picture, stripValue(++frame, captureNs));
      host.emit(picture, captureNs);
    });
    return {
      dispose() {
        open = false;
      },
    };
  },
};

export default plugin;
