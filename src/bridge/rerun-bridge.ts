import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { openFrameReceiver } from '../camera/receiver.ts';
import { TeleopError } from '../core/errors.ts';
import { openTelemetryFeed } from '../desk/telemetry-feed.ts';
import { packageRoot } from '../files/package-root.ts';
import { createChain, TRANSFORM_SIZE } from '../geometry/chain.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { Telemetry } from '../messages/telemetry.ts';
import { GRIPPER_NAME } from '../record/schemas.ts';
import { cameraNames, frameReceiverConfig } from '../rig/camera-channel.ts';
import type { Rig } from '../rig/rig.ts';
import { rigModel } from '../rig/robot-models.ts';

/** A Python that cannot keep up gets fewer lines, never a backlog. */
const MAX_BACKLOG_BYTES = 1024 * 1024;

export interface RerunOptions {
  python: string;
  /** Address of the viewer; or a file instead. */
  connect: string | null;
  save: string | null;
}

export interface RerunBridge {
  /** Rejects when Python ends by itself. */
  failed: Promise<never>;
  counts(): { lines: number; skipped: number };
  close(): Promise<void>;
}

/**
 * Logs a running operator's telemetry and cameras to Rerun through its Python package, which speaks the viewer's
 * protocol. Reads only.
 */
export async function startRerunBridge(rig: Rig, options: RerunOptions): Promise<RerunBridge> {
  const model = rigModel(rig);
  const child = startPython(options);
  const exited = once(child, 'close');
  let [lines, skipped] = [0, 0];
  const write = (line: unknown) => {
    if (child.stdin!.writableLength > MAX_BACKLOG_BYTES) return void skipped++;
    lines++;
    child.stdin!.write(`${JSON.stringify(line)}\n`);
  };
  const joints = model.joints.map(({ name }) => name);
  write({ names: model.gripper ? [...joints, GRIPPER_NAME] : joints });
  const lineOf = telemetryLines(model);
  const feed = openTelemetryFeed(rig, (telemetry) => write({ timeS: nowS(), ...lineOf(telemetry) }));
  const receiver =
    cameraNames(rig).length === 0
      ? null
      : await openFrameReceiver(frameReceiverConfig(rig), ({ camera, encoding, bytes }) => {
          if (encoding === 'jpeg')
            write({ timeS: nowS(), picture: [camera, Buffer.from(bytes).toString('base64')] });
        });
  let isClosing = false;
  const failed = exited.then(([code]): Promise<never> => {
    if (isClosing) return new Promise(() => {});
    throw new TeleopError(
      'child-failed',
      `the Rerun stream ended (${code}): ${child.errors.trim().split('\n').at(-1)}`,
      {
        hint: 'Install the package with `pip install rerun-sdk`, or name a Python that has it: --python PATH.',
      },
    );
  });
  failed.catch(() => {});
  return {
    failed,
    counts: () => ({ lines, skipped }),
    async close() {
      isClosing = true;
      feed.close();
      receiver?.close();
      // The end of its input lets Python flush what it has.
      child.stdin!.end();
      await exited;
    },
  };
}

function startPython({ python, connect, save }: RerunOptions): ChildProcess & { errors: string } {
  const words = [
    path.join(packageRoot, 'python', 'rerun_stream.py'),
    ...(connect === null ? [] : ['--connect', connect]),
    ...(save === null ? [] : ['--save', save]),
  ];
  const child = Object.assign(spawn(python, words, { stdio: ['pipe', 'ignore', 'pipe'] }), { errors: '' });
  child.on('error', (error) => {
    child.errors += error.message;
  });
  child.stdin.on('error', () => {});
  child.stderr.on('data', (data: Buffer) => {
    child.errors = (child.errors + data.toString()).slice(-2000);
  });
  return child;
}

/** One line of the stream: numbers by name, the origins of the links, and the state when it changes. */
function telemetryLines(model: RobotModel): (telemetry: Telemetry) => object {
  const chain = model.family === 'hand' ? null : createChain(model);
  const frames = new Float64Array(TRANSFORM_SIZE * (model.joints.length + 1));
  let shown = '';
  return ({ robot, link, commandedRad, closed }) => {
    const latencyMs = closed.flatMap(({ oneWayMs }) => (oneWayMs === null ? [] : [oneWayMs]));
    if (robot === null || !link.connected) return { latencyMs };
    const { measuredRad, gripper, externalNm = null, state, cause } = robot;
    const status = cause === '' ? state : `${state}: ${cause}`;
    const isNew = status !== shown;
    shown = status;
    chain?.frames(measuredRad, frames);
    return {
      latencyMs,
      state: [...measuredRad, gripper],
      ...(commandedRad && { command: commandedRad }),
      ...(externalNm && { torque: externalNm }),
      ...(isNew && { status }),
      ...(chain && { links: originsIn(frames) }),
    };
  };
}

function originsIn(frames: Float64Array): number[][] {
  return Array.from({ length: frames.length / TRANSFORM_SIZE }, (_, i) =>
    [3, 7, 11].map((at) => Math.round(frames[i * TRANSFORM_SIZE + at]! * 1e5) / 1e5),
  );
}

const nowS = (): number => (performance.timeOrigin + performance.now()) / 1000;
