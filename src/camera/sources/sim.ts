import { z } from 'zod';
import { drawStrip, stripValue } from '../bit-strip.ts';
import { drawText, emptyPicture, fillRect, timeCode } from '../drawing.ts';
import { RobotView } from '../render/robot-view.ts';
import type { RgbPicture, SourcePlugin } from '../source.ts';

const point = z.tuple([z.number(), z.number(), z.number()]);
const config = z.strictObject({
  mount: z
    .enum(['scene', 'wrist'])
    .default('scene')
    .describe('scene: fixed in place; wrist: beside the flange, looking along the tool'),
  eyeM: point.default([0.85, -0.75, 0.65]).describe('scene: where the camera is, base frame'),
  targetM: point.default([0.1, 0, 0.25]).describe('scene: what it looks at, base frame'),
  fovRad: z.number().min(0.2).max(2).default(0.9).describe('horizontal field of view'),
  strip: z
    .boolean()
    .default(false)
    .describe('draw frame number and time as light and dark cells along the bottom edge'),
});

/**
 * Draws what a camera would see of the robot in this process, from its measured joint angles. Needs no GPU.
 */
const plugin: SourcePlugin<z.infer<typeof config>> = {
  about: 'a drawn view of the robot in this process',
  config,
  async open({ strip, ...options }, { widthPx, heightPx }, host) {
    const { model } = host.robot;
    const joints = Float64Array.from(model.homeRad);
    const isArm = model.family !== 'hand';
    const view = isArm ? new RobotView(model, { ...options, widthPx, heightPx }) : null;
    const blank: RgbPicture = emptyPicture(widthPx, heightPx);
    const scale = Math.max(1, Math.round(widthPx / 213));
    let frame = 0;
    let open = true;
    host.everyFrame((captureNs) => {
      if (!open) return;
      const gripper = host.robot.read(joints);
      const known = !Number.isNaN(gripper);
      const picture = view?.draw(joints, model.gripper && known ? gripper : Number.NaN) ?? blank;
      const note = !isArm ? 'NO VIEW OF HANDS' : known ? '' : 'NO ROBOT';
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
