import { symlinkSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { PiperSimulation } from '../../sim/piper/simulation.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { loadBusLibc } from '../../src/robot/buses/libc.ts';
import { openPty } from '../../src/robot/buses/pty.ts';
import { int32 } from '../../src/robot/drivers/piper/feedback.ts';
import { ID } from '../../src/robot/drivers/piper/frames.ts';
import { END, flagsOf, NUMBERS, ON_BUS, type PiperBenchData, STAMPS, stampsOf, TICK } from './shared.ts';

// The arm and its adapter: feedback every millisecond, and a stamp for the last joint frame of each cycle. It waits in
// poll, so that a stamp is the time of arrival.
const data = workerData as PiperBenchData;
const flags = flagsOf(data);
const stamps = stampsOf(data);
const libc = await loadBusLibc();
const pty = await openPty();
const simulation = new PiperSimulation(pty, { firmware: 'new', startRad: [0, 1, -1, 0, 0.3, 0] });
simulation.onCommand = (frame) => {
  if (frame.id !== ID.joints + 2) return;
  const nowNs = monotonicClock.nowNs();
  const number = int32(frame.data, 4);
  const newest = Atomics.load(flags, TICK) - 1;
  const cycle = newest - ((((newest - number) % NUMBERS) + NUMBERS) % NUMBERS);
  if (cycle >= 0 && stamps[cycle * STAMPS + ON_BUS] === 0) stamps[cycle * STAMPS + ON_BUS] = nowNs;
};
symlinkSync(pty.path, data.link);
parentPort!.postMessage('ready');

const waiting = new Uint8Array(8);
const view = new DataView(waiting.buffer);
view.setInt32(0, pty.fd, true);
view.setInt16(4, 1, true);
let tickMs = performance.now();
while (Atomics.load(flags, END) === 0) {
  libc.poll(waiting, 1, 1);
  simulation.adapter.poll();
  if (performance.now() - tickMs < 1) continue;
  tickMs = performance.now();
  simulation.tick(tickMs);
}
pty.close();
