import type { Page } from 'playwright-core';

/** A picture as it appeared on the screen. */
export interface ShownPicture {
  /** Low 16 bits of the picture's number. */
  frame: number;
  /** From the capture to the first display refresh that had it. */
  ageMs: number;
  isVideo: boolean;
}

/**
 * Reads, at every display refresh, the number and the capture time that the test pattern draws into its
 * pictures, from what a camera's tile shows: the same for JPEG and video, and without any of the page's code.
 * `half`: of a video that has two pictures side by side. The browser runs on the robot's machine.
 */
export async function watchScreen(
  page: Page,
  camera: string,
  half: 'left' | 'right' | '' = '',
): Promise<void> {
  // The monotonic clock of this machine, whose low 16 bits of milliseconds are in the picture.
  const monotonicMs = Number(process.hrtime.bigint() / 1000n) / 1000;
  const wallMs = performance.timeOrigin + performance.now();
  await page.evaluate(`{
    const offsetMs = ${monotonicMs - wallMs} + performance.timeOrigin;
    const tile = document.querySelector('[data-testid="camera-${camera}"]');
    const small = document.createElement('canvas');
    const context = small.getContext('2d', { willReadFrequently: true });
    const seen = (window.__shown ??= {})['${camera}'] = [];
    let last = -1;
    const look = () => {
      requestAnimationFrame(look);
      const isVideo = tile.classList.contains('as-video');
      const from = tile.querySelector(isVideo ? 'video' : 'canvas');
      const width = from.videoWidth ?? from.width, height = from.videoHeight ?? from.height;
      if (!width || !height) return;
      const wide = isVideo && '${half}' !== '' ? width / 2 : width;
      const cell = Math.floor(wide / 32);
      small.width = wide; small.height = 1;
      const left = isVideo && '${half}' === 'right' ? wide : 0;
      context.drawImage(from, left, height - Math.ceil(cell / 2), wide, 1, 0, 0, wide, 1);
      const { data } = context.getImageData(0, 0, wide, 1);
      let value = 0;
      for (let bit = 0; bit < 32; bit++)
        value = ((value << 1) | (data[4 * (bit * cell + (cell >> 1))] > 128 ? 1 : 0)) >>> 0;
      if (value === last) return;
      last = value;
      const nowMs = offsetMs + performance.now();
      const ageMs = (((nowMs - (value & 0xffff)) % 65536) + 65536) % 65536;
      seen.push({ frame: value >>> 16, ageMs, isVideo });
    };
    requestAnimationFrame(look);
  }`);
}

/** What was shown since the last call. */
export const shownPictures = (page: Page, camera: string): Promise<ShownPicture[]> =>
  page.evaluate<ShownPicture[]>(`window.__shown['${camera}'].splice(0)`);
