import { parentPort, workerData } from 'node:worker_threads';
import { loadJpegCoder } from '../camera/encoder.ts';
import { resampled } from '../camera/resample.ts';
import type { OnnxFacts } from './onnx-metadata.ts';

export interface OnnxStart {
  file: string;
  facts: OnnxFacts;
}

export interface OnnxRequest {
  id: number;
  state: Float32Array;
  /** JPEG by camera. */
  frames: Record<string, Uint8Array>;
}

export type OnnxAnswer =
  | { kind: 'ready' }
  | { kind: 'chunk'; id: number; values: Float32Array }
  | { kind: 'failed'; id: number; message: string };

/** One inference at a time, away from the event loop of the process. One thread: more would take cores from the robot. */
const { file, facts } = workerData as OnnxStart;
const post = (answer: OnnxAnswer) => parentPort?.postMessage(answer);

interface Output {
  type: string;
  dims: readonly number[];
  data: unknown;
}

/** What is used of `onnxruntime-node`, which is not installed by default: it takes 290 MB. */
interface Runtime {
  InferenceSession: {
    create(file: string, options: object): Promise<{ run(feeds: object): Promise<{ actions?: Output }> }>;
  };
  Tensor: new (type: string, data: Float32Array | Uint8Array, shape: readonly number[]) => object;
}

const RUNTIME: string = 'onnxruntime-node';
const { InferenceSession, Tensor } = (await import(RUNTIME)) as Runtime;
const coder = await loadJpegCoder('install it: a policy needs its pictures decoded');
const session = await InferenceSession.create(file, { intraOpNumThreads: 1, interOpNumThreads: 1 });

async function infer({ id, state, frames }: OnnxRequest): Promise<void> {
  const feeds: Record<string, object> = {
    state: new Tensor('float32', state, [1, state.length]),
  };
  for (const camera of facts.cameras) {
    const picture = coder.decode(frames[camera] ?? new Uint8Array(0));
    if (picture === null) return post({ kind: 'failed', id, message: `camera ${camera} sent no picture` });
    const { pixels } = resampled(picture, facts.widthPx, facts.heightPx);
    feeds[camera] = new Tensor('uint8', Uint8Array.from(pixels), [1, facts.heightPx, facts.widthPx, 3]);
  }
  const { actions } = await session.run(feeds);
  const why = unlike(actions);
  if (why !== null) return post({ kind: 'failed', id, message: why });
  post({ kind: 'chunk', id, values: Float32Array.from(actions!.data as Float32Array) });
}

/** Why an output is not what the file says about itself; null: it is. */
function unlike(actions: Output | undefined): string | null {
  if (actions === undefined) return 'the model has no output `actions`';
  const width = facts.joints.length + (facts.gripper ? 1 : 0);
  const [rows, columns] = actions.dims.slice(-2);
  if (/^float(32|64)$/.test(actions.type) && rows === facts.rows && columns === width) return null;
  return `its output is ${actions.type} [${actions.dims.join(', ')}], not float32 [1, ${facts.rows}, ${width}] as it declares`;
}

let last: Promise<void> = Promise.resolve();
parentPort?.on('message', (request: OnnxRequest) => {
  last = last
    .then(() => infer(request))
    .catch((error: Error) => post({ kind: 'failed', id: request.id, message: error.message }));
});
post({ kind: 'ready' });
