import { testInput } from 'farhand/testing';
import plugin from './index.js';

const [CLUTCH, ESTOP] = [1, 2];

/** What the device sends: a hand, and its buttons. @param {number} buttons */
function message(buttons) {
  const view = new DataView(new ArrayBuffer(14));
  for (const [i, metres] of [0.1, 1.2, -0.3].entries()) view.setFloat32(4 * i, metres, true);
  view.setUint8(12, 64);
  view.setUint8(13, buttons);
  return new Uint8Array(view.buffer);
}

testInput('NAME', plugin, {
  message: () => message(CLUTCH),
  released: () => message(0),
  estop: () => message(CLUTCH | ESTOP),
});
