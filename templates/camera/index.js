// @ts-check
import { defineCamera, z } from 'farhand';

const config = z.strictObject({
  stripePx: z.int().min(1).max(500).default(20).describe('width of the moving stripe'),
});

export default defineCamera({
  about: 'NAME: a moving stripe; replace it by your camera’s pictures',
  config,
  /** Never blocks: other cameras share the thread. Throw a `TeleopError` if the camera is missing. */
  open: async ({ stripePx }, { widthPx, heightPx }, host) => {
    const pixels = new Uint8Array(3 * widthPx * heightPx);
    let isOpen = true;
    let at = 0;
    host.everyFrame((nowNs) => {
      if (!isOpen) return;
      pixels.fill(40);
      at = (at + 4) % widthPx;
      for (let y = 0; y < heightPx; y++) {
        const row = 3 * y * widthPx;
        pixels.fill(220, row + 3 * at, row + 3 * Math.min(widthPx, at + stripePx));
      }
      // A camera that knows when a picture was taken gives that instant instead.
      host.emit({ kind: 'rgb', pixels, widthPx, heightPx }, nowNs);
    });
    return {
      dispose: () => {
        isOpen = false;
      },
    };
  },
});
