import { testInput } from 'farhand/testing';
import plugin from './index.js';

/** What the device sends: a hand, and the clutch. @param {boolean} isClosed */
function message(isClosed) {
  const view = new DataView(new ArrayBuffer(14));
  for (const [i, metres] of [0.1, 1.2, -0.3].entries()) view.setFloat32(4 * i, metres, true);
  view.setUint8(12, 64);
  view.setUint8(13, isClosed ? 1 : 0);
  return new Uint8Array(view.buffer);
}

testInput('NAME', plugin, { message: () => message(true), released: () => message(false) });
