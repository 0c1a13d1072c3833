import { drawText, fillRect } from './drawing.ts';
import type { RgbPicture } from './source.ts';

/** Smallest change of the stroke that counts as motion; above encoder jitter. */
const MOTION = 0.005;
/** How long the bar stays after the last motion. */
const LINGER_NS = 0.5e9;

/**
 * Draws the gripper's position on pictures while it moves, because the operator sees it only through the
 * camera.
 */
export class GripperBar {
  #last = Number.NaN;
  #movedNs = Number.NEGATIVE_INFINITY;

  /** True while the bar is visible. `gripper`: 0 open to 1 closed; NaN: unknown. */
  update(gripper: number, nowNs: number): boolean {
    if (Number.isNaN(gripper)) return false;
    if (Math.abs(gripper - this.#last) > MOTION) this.#movedNs = nowNs;
    if (!(Math.abs(gripper - this.#last) <= MOTION)) this.#last = gripper;
    return nowNs - this.#movedNs < LINGER_NS;
  }

  /** Full when the gripper is closed. */
  draw(to: RgbPicture, gripper: number): void {
    const { widthPx, heightPx } = to;
    const scale = Math.max(1, Math.round(widthPx / 160));
    const [width, height] = [Math.round(0.6 * widthPx), 3 * scale];
    const [x, y] = [Math.round(0.2 * widthPx), Math.round(0.85 * heightPx)];
    const closed = Math.max(0, Math.min(1, gripper));
    fillRect(to, x - scale, y - 7 * scale, width + 2 * scale, height + 8 * scale, [20, 24, 28]);
    drawText(to, x, y - 6 * scale, `GRIPPER ${Math.round(100 * closed)}%`, scale, [255, 255, 255]);
    fillRect(to, x, y, width, height, [70, 76, 84]);
    fillRect(to, x, y, width * closed, height, [250, 176, 48]);
  }
}
