import { z } from 'zod';
import { WORLD_STATE } from '../../messages/world-state.ts';
import { DEFAULT_FAR_M } from '../depth.ts';
import { drawText, emptyPicture, fillRect, timeCode } from '../drawing.ts';
import { WorldView } from '../render/world-view.ts';
import type { SourcePlugin } from '../source.ts';

const config = z.strictObject({
  mount: z
    .enum(['front', 'wrist'])
    .default('front')
    .describe('front: beside the table, facing the robot; wrist: at the flange, looking at the fingers'),
  arm: z
    .enum(['left', 'right'])
    .default('left')
    .describe('of two arms in one world, the one at whose flange `wrist` is'),
  depth: z.boolean().default(false).describe('distances in millimetres, 16 bits, instead of colours'),
  farM: z
    .number()
    .min(0.1)
    .max(65)
    .default(DEFAULT_FAR_M)
    .describe('depth: this distance is black in the picture that people see'),
});

/** Draws the simulated world of the robot in this process, with shadows. Needs no GPU. */
const plugin: SourcePlugin<z.infer<typeof config>> = {
  about: 'a drawn view of the simulated world of the robot in this process',
  config,
  async open({ mount, arm, depth, farM }, { widthPx, heightPx }, host) {
    const { model, second } = host.robot;
    const joints = Float64Array.from(model.homeRad);
    const state = WORLD_STATE.create();
    const other = second && {
      jointsRad: Float64Array.from(second.model.homeRad),
      world: WORLD_STATE.create(),
    };
    const view = new WorldView(model, {
      ...{ widthPx, heightPx, mount },
      ...{ second: second?.model, isAtSecond: arm === 'right' },
    });
    const seesOther = (): boolean =>
      second === undefined ||
      (!Number.isNaN(second.read(other!.jointsRad)) && second.world?.(other!.world) !== '');
    const blank = emptyPicture(widthPx, heightPx);
    const scale = Math.max(1, Math.round(widthPx / 213));
    const depthMm = new Uint16Array(depth ? widthPx * heightPx : 0);
    let open = true;
    host.everyFrame((captureNs) => {
      if (!open) return;
      const isKnown = !Number.isNaN(host.robot.read(joints));
      const task = host.robot.world?.(state) ?? '';
      const isShown = isKnown && task !== '' && seesOther();
      const picture = isShown ? view.draw(joints, state, task, false, other) : blank;
      if (depth) {
        if (isShown) view.depth(depthMm);
        else depthMm.fill(0);
        return host.emit({ kind: 'depth', depthMm, widthPx, heightPx, farMm: 1000 * farM }, captureNs);
      }
      if (!isShown) {
        fillRect(picture, 0, 0, widthPx, 7 * scale, [24, 28, 34]);
        drawText(picture, 2 * scale, scale, `${timeCode(captureNs)} NO WORLD`, scale, [240, 240, 240]);
      }
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
