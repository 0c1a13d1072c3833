import type { CameraConfig } from './config.ts';
import { type EncodedDepth, encodeDepth, thirdOfDepth } from './depth.ts';
import type { JpegCoder } from './encoder.ts';
import { GripperBar } from './gripper-bar.ts';
import { toThird } from './resize.ts';
import type { DepthPicture, Picture, RgbPicture } from './source.ts';

/** Turns a source's picture into the JPEG to send: resizes, draws and encodes, each only where configured. */
export class Finisher {
  readonly #camera: CameraConfig;
  readonly #coder: () => JpegCoder;
  readonly #bar = new GripperBar();
  #small: RgbPicture | null = null;
  #shrunkFrom: { widthPx: number; heightPx: number } | null = null;

  /** `coder` is called only when a picture has to be encoded. */
  constructor(camera: CameraConfig, coder: () => JpegCoder) {
    this.#camera = camera;
    this.#coder = coder;
  }

  /** JPEG bytes, or null for an unreadable picture. JPEG that needs no change is passed through. */
  finish(picture: Exclude<Picture, DepthPicture>, gripper: number, nowNs: number): Uint8Array | null {
    const { resizeToThird, gripperBar, quality } = this.#camera;
    const bar = gripperBar && this.#bar.update(gripper, nowNs);
    if (picture.kind === 'jpeg' && !resizeToThird && !bar) return picture.bytes;
    const coder = this.#coder();
    let pixels = picture.kind === 'jpeg' ? coder.decode(picture.bytes) : picture;
    if (pixels === null) return null;
    if (resizeToThird) pixels = this.#shrink(pixels);
    if (bar) this.#bar.draw(pixels, gripper);
    return coder.encode(pixels, quality);
  }

  /** Nothing is drawn on distances. */
  finishDepth(picture: DepthPicture): EncodedDepth {
    const { resizeToThird, quality } = this.#camera;
    return encodeDepth(resizeToThird ? thirdOfDepth(picture) : picture, this.#coder(), quality);
  }

  #shrink(from: RgbPicture): RgbPicture {
    const same = this.#shrunkFrom?.widthPx === from.widthPx && this.#shrunkFrom.heightPx === from.heightPx;
    this.#small = same && this.#small ? toThird(from, this.#small) : toThird(from);
    this.#shrunkFrom = { widthPx: from.widthPx, heightPx: from.heightPx };
    return this.#small;
  }
}
