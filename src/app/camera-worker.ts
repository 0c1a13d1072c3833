import { parentPort, workerData } from 'node:worker_threads';
import type { FrameSender, FrameSenderConfig } from '../camera/channel/frame-sender.ts';
import { openFrameSender } from '../camera/channel/sender.ts';
import type { CameraConfig } from '../camera/config.ts';
import { type JpegCoder, loadJpegCoder } from '../camera/encoder.ts';
import type { RobotPose } from '../camera/source.ts';
import { type CameraEvent, CameraStation } from '../camera/station.ts';
import { Counters } from '../core/counters.ts';
import { SnapshotBoard } from '../core/memory/snapshot.ts';
import { monotonicClock } from '../core/time/clock.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import { readRobotBoard } from '../messages/robot-board.ts';
import type { CameraReport } from '../messages/role-report.ts';
import { lowerPriority } from '../native/thread-priority.ts';
import { openCameraSource } from './registry.ts';
import { type FailedMessage, failedMessage } from './worker-host.ts';

/** An arm of this process: its memory of `role-memory.ts`. */
export interface CameraRobot {
  model: RobotModel;
  board: SharedArrayBuffer;
  /** Its simulated world. */
  world: SharedArrayBuffer;
}

/** What a camera thread is started with. */
export interface CameraStart {
  cameras: Record<string, CameraConfig>;
  sender: FrameSenderConfig;
  model: RobotModel;
  /** One or two arms, left before right; none without a robot. */
  robots: readonly CameraRobot[];
  counters: SharedArrayBuffer;
  linkUsesZmq: boolean;
}

export type CameraMessage =
  | { kind: 'ready'; where: string }
  | { kind: 'event'; event: CameraEvent }
  | FailedMessage
  | { kind: 'report'; reports: CameraReport[] };

/** Sent to the thread: `report` requests a report, `close` the last report and the end. */
export type CameraOrder = 'report' | 'close';

const start = workerData as CameraStart;
const post = (message: CameraMessage) => parentPort?.postMessage(message);

function robotPose({ robots: [first, second], model }: CameraStart): RobotPose {
  if (first === undefined) return { model, read: () => Number.NaN };
  return { ...armPose(first), second: second && armPose(second) };
}

function armPose({ board, world, model }: CameraRobot): RobotPose {
  const shared = new SnapshotBoard(board);
  const things = new SnapshotBoard(world);
  return {
    model,
    world: (out) => things.read(out.packed) ?? '',
    read(jointsRad) {
      const robot = readRobotBoard(shared, model.joints.length);
      // NaN until the driver's first reading.
      if (robot === null || !robot.measuredRad.every(Number.isFinite)) return Number.NaN;
      jointsRad.set(robot.measuredRad);
      return robot.gripper;
    },
  };
}

/** Loaded on first use and required only then: a camera that delivers JPEG does not need it. */
async function jpegCoder(): Promise<() => JpegCoder> {
  try {
    const coder = await loadJpegCoder();
    return () => coder;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

async function main(): Promise<void> {
  const counters = new Counters(start.counters);
  // ZeroMQ's single thread per process inherits this priority, so leave it alone where the link uses ZeroMQ
  // too.
  if (!start.linkUsesZmq) lowerPriority();
  const sender: FrameSender = await openFrameSender(start.sender, (reason) => counters.add(reason));
  const coder = await jpegCoder();
  const robot = robotPose(start);
  lowerPriority();
  const stations = Object.entries(start.cameras).map(
    ([name, config]) =>
      new CameraStation({
        name,
        config,
        openSource: openCameraSource,
        clock: monotonicClock,
        robot,
        coder,
        send: (frame) => sender.send(frame),
        onEvent: (event) => post({ kind: 'event', event }),
      }),
  );
  const report = () => post({ kind: 'report', reports: stations.map((station) => station.report) });
  parentPort?.on('message', (order: CameraOrder) => {
    if (order === 'report') return report();
    for (const station of stations) station.close();
    void sender.close().then(() => {
      report();
      parentPort?.close();
    });
  });
  post({ kind: 'ready', where: sender.where });
  for (const station of stations) void station.start();
}

main().catch((error: unknown) => {
  post(failedMessage(error));
  parentPort?.close();
});
