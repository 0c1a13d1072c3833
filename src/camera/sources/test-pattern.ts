import { z } from 'zod';
import { drawStrip, stripValue } from '../bit-strip.ts';
import { type Colour, drawText, emptyPicture, fillDisc, fillRect, timeCode } from '../drawing.ts';
import type { RgbPicture, SourcePlugin } from '../source.ts';

const config = z.strictObject({
  grain: z
    .int()
    .min(0)
    .max(255)
    .default(40)
    .describe('noise strength; more noise makes larger pictures, like a real scene'),
  shimmer: z
    .int()
    .min(0)
    .max(255)
    .default(0)
    .describe('strength of noise that changes with every picture, like a sensor’s'),
});

const BARS: readonly Colour[] = [
  [191, 191, 191],
  [191, 191, 0],
  [0, 191, 191],
  [0, 191, 0],
  [191, 0, 191],
  [191, 0, 0],
  [0, 0, 191],
];
const TURN_S = 4;
/** Backdrops with different noise, shown in turn. */
const SHIMMERS = 8;

/** Colour bars with noise: drawn once, copied for every picture. */
function backdrop(widthPx: number, heightPx: number, grain: number): RgbPicture {
  const picture = emptyPicture(widthPx, heightPx);
  BARS.forEach((colour, i) => {
    const from = (i * widthPx) / BARS.length;
    fillRect(picture, from, 0, widthPx / BARS.length + 1, heightPx, colour);
  });
  addNoise(picture, 12345, grain);
  return picture;
}

function addNoise({ pixels }: RgbPicture, seed: number, strength: number): void {
  let state = seed;
  for (let i = 0; i < pixels.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const noise = ((state >>> 16) / 65536 - 0.5) * strength;
    pixels[i] = Math.max(0, Math.min(255, pixels[i]! + noise));
  }
}

/** One without shimmer, else several. */
function backdrops(widthPx: number, heightPx: number, grain: number, shimmer: number): RgbPicture[] {
  const still = backdrop(widthPx, heightPx, grain);
  if (shimmer === 0) return [still];
  return Array.from({ length: SHIMMERS }, (_, i) => {
    const picture = { ...still, pixels: still.pixels.slice() };
    addNoise(picture, i + 1, shimmer);
    return picture;
  });
}

/** A moving test scene: a ball on a circle, the frame number, the time, and both as light and dark cells. */
const plugin: SourcePlugin<z.infer<typeof config>> = {
  about: 'colour bars, a moving ball, frame number and time code',
  config,
  async open({ grain, shimmer }, { widthPx, heightPx }, host) {
    const backs = backdrops(widthPx, heightPx, grain, shimmer);
    const picture = emptyPicture(widthPx, heightPx);
    const scale = Math.max(1, Math.round(widthPx / 160));
    let frame = 0;
    let open = true;
    host.everyFrame((captureNs) => {
      if (!open) return;
      picture.pixels.set(backs[frame % backs.length]!.pixels);
      const turn = ((captureNs / 1e9 / TURN_S) % 1) * 2 * Math.PI;
      const [x, y] = [0.5 + 0.35 * Math.cos(turn), 0.5 + 0.3 * Math.sin(turn)];
      fillDisc(picture, x * widthPx, y * heightPx, Math.round(heightPx / 12), [255, 255, 255]);
      fillRect(picture, 0, 0, widthPx, 7 * scale, [16, 16, 16]);
      const text = `FRAME ${String(++frame).padStart(6, '0')} ${timeCode(captureNs)}`;
      drawText(picture, 2 * scale, scale, text, scale, [255, 255, 255]);
      drawStrip(picture, stripValue(frame, captureNs));
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
