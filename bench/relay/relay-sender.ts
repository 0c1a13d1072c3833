import { setTimeout as sleep } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { Push } from 'zeromq';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { HAND_SHAPES, shapeHand } from '../../src/hand/model-hand.ts';
import { HAND_NUMBERS, spreadHandPoints } from '../../src/hand/points.ts';
import { encodeHandToken } from '../../src/input/codecs/openteach-codec.ts';
import { WRAP_S } from './relay.ts';

const { port, hz, seconds } = workerData as { port: number; hz: number; seconds: number };
const socket = new Push({ linger: 0, immediate: true });
socket.connect(`tcp://127.0.0.1:${port}`);
const pointsM = new Float64Array(HAND_NUMBERS);
const sentM = new Float64Array(72);
for (let i = 0; i < hz * seconds; i++) {
  await sleep(1000 / hz);
  const x = (monotonicClock.nowNs() / 1e9) % WRAP_S;
  shapeHand(HAND_SHAPES.open, { positionM: [x, 1, 0], pitchRad: 0 }, false, pointsM);
  spreadHandPoints(pointsM, 24, 'unity', sentM);
  await socket.send(encodeHandToken('absolute', 24, sentM));
}
socket.close();
