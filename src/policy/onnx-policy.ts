import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { TeleopError } from '../core/errors.ts';
import type { Observation } from './observation.ts';
import { type OnnxFacts, onnxFacts } from './onnx-metadata.ts';
import type { OnnxAnswer, OnnxRequest, OnnxStart } from './onnx-worker.ts';
import type { Chunk, Policy } from './policy.ts';

interface Waiting {
  resolve: (values: Float32Array) => void;
  reject: (error: Error) => void;
}

/** Runs an ONNX file in a worker thread of this process. Needs the optional package `onnxruntime-node`. */
export async function openOnnxPolicy(file: string): Promise<Policy> {
  const facts = onnxFacts(readModel(file), file);
  const start: OnnxStart = { file, facts };
  const worker = new Worker(new URL('./onnx-worker.js', import.meta.url), { workerData: start });
  const waiting = new Map<number, Waiting>();
  let id = 0;
  const ready = new Promise<void>((resolve, reject) => {
    const fail = (error: Error) => {
      for (const each of waiting.values()) each.reject(error);
      waiting.clear();
      reject(unavailable(file, error));
    };
    worker.on('error', fail);
    worker.on('exit', () => fail(new Error('its thread ended')));
    worker.on('message', (answer: OnnxAnswer) =>
      answer.kind === 'ready' ? resolve() : settle(answer, waiting),
    );
  });
  await ready;
  return {
    facts: { name: path.basename(file), ...facts },
    async infer(observation) {
      const request = requestOf(++id, observation, facts);
      const values = await new Promise<Float32Array>((resolve, reject) => {
        waiting.set(request.id, { resolve, reject });
        worker.postMessage(request);
      });
      return chunkFrom(values, facts);
    },
    close: () => void worker.terminate(),
  };
}

function settle(answer: Exclude<OnnxAnswer, { kind: 'ready' }>, waiting: Map<number, Waiting>): void {
  const each = waiting.get(answer.id);
  waiting.delete(answer.id);
  if (answer.kind === 'chunk') each?.resolve(answer.values);
  else each?.reject(new Error(answer.message));
}

function requestOf(id: number, { state, frames }: Observation, { gripper }: OnnxFacts): OnnxRequest {
  const values = Float32Array.from(gripper ? [...state.positionsRad, state.gripper] : state.positionsRad);
  const jpeg = Object.entries(frames).map(([camera, { bytes }]) => [camera, bytes] as const);
  return { id, state: values, frames: Object.fromEntries(jpeg) };
}

function chunkFrom(values: Float32Array, { rows, joints, gripper }: OnnxFacts): Chunk {
  const width = joints.length + (gripper ? 1 : 0);
  if (values.length !== rows * width)
    throw new Error(`it answered ${values.length} numbers, not ${rows} rows of ${width}`);
  return { rows, width, values: Float64Array.from(values) };
}

function readModel(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new TeleopError('file-missing', `${file} cannot be read`, {
      hint: 'Give the path of an .onnx file; docs/policies.md shows how to make one.',
      cause,
    });
  }
}

const unavailable = (file: string, cause: Error): TeleopError =>
  /Cannot find (package|module)/.test(cause.message)
    ? new TeleopError('native-unavailable', 'onnxruntime-node is not installed', {
        hint: 'Install it without its download script: `npm install --no-save --ignore-scripts onnxruntime-node`.',
        cause,
      })
    : new TeleopError('policy-failed', `${file} cannot be run: ${cause.message}`, {
        hint: 'Check that the file is a whole ONNX model.',
        cause,
      });
