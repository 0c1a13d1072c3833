// Draws a circle of 5 cm with the robot of a running `farhand demo`, and records it.
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'farhand';

const session = await connect();
await session.take();
await session.useInput('page');
session.request('teleop');
await session.startRecording('draw a circle');
for (let s = 0; s < 4; s += 1 / 60) {
  const [x, y] = [0.05 * Math.sin(2 * Math.PI * 0.5 * s), 0.05 * (1 - Math.cos(2 * Math.PI * 0.5 * s))];
  session.hand({ positionM: [x, 1 + y, -0.3], quatXyzw: [0, 0, 0, 1], gripper: 0, clutch: s > 0.2 });
  await sleep(1000 / 60);
}
console.log(`recorded ${await session.stopRecording('success')}, robot ${session.telemetry?.robot?.state}`);
session.close();
