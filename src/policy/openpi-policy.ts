import WebSocket from 'ws';
import { z } from 'zod';
import { loadJpegCoder } from '../camera/encoder.ts';
import { TeleopError } from '../core/errors.ts';
import { type NdArray, type Packable, pack, unpack } from './msgpack.ts';
import type { Observation } from './observation.ts';
import { type Chunk, MAX_ROWS, NO_FACTS, type Policy } from './policy.ts';

const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const CONNECT_MS = 5000;
const CLOSE_MS = 500;
const WIDTHS: Readonly<Record<string, number>> = { '<f4': 4, '<f8': 8 };

const arraySchema = z.object({
  __ndarray__: z.literal(true),
  data: z.instanceof(Uint8Array),
  dtype: z.enum(['<f4', '<f8']),
  shape: z.array(z.int().min(0)).min(1).max(3),
});
const answerSchema = z.object({ actions: arraySchema });
/** A server sends what it likes about itself; of that, these are used. */
const metadataSchema = z.object({
  fps: z.number().min(1).max(1000).optional().catch(undefined),
  joints: z.array(z.string()).optional().catch(undefined),
  cameras: z.array(z.string()).optional().catch(undefined),
});

interface Waiting {
  resolve: (answer: Uint8Array) => void;
  reject: (error: Error) => void;
}

type Decode = Awaited<ReturnType<typeof loadJpegCoder>>['decode'];

/** `ws://…`: openpi's protocol, MessagePack over WebSocket. A server answers in the order of the requests. */
export async function openpiPolicy(url: string): Promise<Policy> {
  const coder = await loadJpegCoder('install it: a policy over WebSocket needs its pictures decoded');
  const link = new OpenpiLink(url);
  const { fps, joints, cameras } = described(url, await link.connect(), () => link.close());
  return {
    facts: { ...NO_FACTS, name: url, fps: fps ?? null, joints: joints ?? null, cameras: cameras ?? null },
    async infer(observation, signal) {
      const request = pack(requestOf(observation, (jpeg) => coder.decode(jpeg)));
      return chunkOfAnswer(await link.ask(request, signal));
    },
    close: () => link.close(),
  };
}

/** What a server says about itself. */
function described(url: string, first: Uint8Array, close: () => void): z.infer<typeof metadataSchema> {
  try {
    return metadataSchema.parse(unpacked(first));
  } catch (cause) {
    close();
    throw new TeleopError('policy-failed', `${url} is not an openpi server: its first message is invalid`, {
      hint: 'Check the address: the server must speak openpi’s protocol (docs/policies.md).',
      cause,
    });
  }
}

class OpenpiLink {
  readonly #url: string;
  #socket: WebSocket | null = null;
  /** While the connection is made again; requests wait for it. */
  #connecting: Promise<unknown> | null = null;
  #waiting: Waiting[] = [];

  constructor(url: string) {
    this.#url = url;
  }

  /** Resolves with the server's first message, which describes it. */
  async connect(): Promise<Uint8Array> {
    const socket = new WebSocket(this.#url, {
      ...{ perMessageDeflate: false, maxPayload: MAX_ANSWER_BYTES, handshakeTimeout: CONNECT_MS },
    });
    this.#socket = socket;
    const first = this.#next();
    socket.on('message', (data: Buffer, isBinary: boolean) => this.#receive(data, isBinary));
    socket.on('error', (error) => this.#end(error));
    socket.on('close', () => this.#end(new Error('the connection ended')));
    const timer = setTimeout(() => socket.terminate(), CONNECT_MS);
    try {
      return await first;
    } catch (cause) {
      throw new TeleopError('policy-failed', `${this.#url} does not answer: ${(cause as Error).message}`, {
        hint: 'Start the policy server first, and check its address and port.',
        cause,
      });
    } finally {
      clearTimeout(timer);
    }
  }

  async ask(request: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    if (this.#socket === null || this.#connecting !== null) await this.#connected();
    const socket = this.#socket;
    if (socket === null || signal.aborted) throw new Error('given up');
    // One that is given up keeps its place: its answer still comes before the next one's.
    const answer = this.#next();
    const givenUp = new Promise<never>((_, reject) =>
      signal.addEventListener('abort', () => reject(new Error('given up')), { once: true }),
    );
    // Either may be rejected when nobody waits for it any more.
    for (const each of [answer, givenUp]) each.catch(() => {});
    socket.send(request, (error) => error && this.#end(error));
    return Promise.race([answer, givenUp]);
  }

  async #connected(): Promise<void> {
    if (this.#socket === null) {
      this.#connecting = this.connect().finally(() => {
        this.#connecting = null;
      });
    }
    await this.#connecting;
  }

  #next(): Promise<Uint8Array> {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** A text is the server's report of its own error. */
  #receive(data: Buffer, isBinary: boolean): void {
    const waiting = this.#waiting.shift();
    if (isBinary) waiting?.resolve(data);
    else waiting?.reject(new Error(lastLine(String(data))));
  }

  #end(error: Error): void {
    this.#detach(error)?.terminate();
  }

  #detach(error: Error): WebSocket | null {
    const [socket, waiting] = [this.#socket, this.#waiting.splice(0)];
    this.#socket = null;
    socket?.removeAllListeners().on('error', () => {});
    for (const each of waiting) each.reject(error);
    return socket;
  }

  close(): void {
    const socket = this.#detach(new Error('closed'));
    if (socket === null) return;
    socket.close();
    // A server that ignores this would keep the process for half a minute.
    const timer = setTimeout(() => socket.terminate(), CLOSE_MS);
    socket.once('close', () => clearTimeout(timer));
  }
}

const lastLine = (trace: string): string => trace.trim().split('\n').at(-1)!.slice(0, 200);

function unpacked(bytes: Uint8Array): unknown {
  const value = unpack(bytes);
  return typeof value === 'object' && value !== null ? value : {};
}

/**
 * `observation/state`: the joints, then the gripper. `observation/effort`: their torques, where known. `observation/CAMERA`:
 * RGB. `age_ms/CAMERA`: how old that is, where known. `prompt`: the task.
 */
export function requestOf({ state, frames, task }: Observation, decode: Decode): Packable {
  const { positionsRad, gripper, effort } = state;
  const ages = Object.entries(frames).flatMap(([camera, { ageMs }]) =>
    ageMs == null ? [] : [[`age_ms/${camera}`, ageMs] as const],
  );
  const pictures = Object.entries(frames).map(([camera, { bytes }]) => {
    const picture = decode(bytes);
    if (picture === null) throw new Error(`a picture of ${camera} cannot be decoded`);
    const { pixels, widthPx, heightPx } = picture;
    const array: NdArray = { dtype: '|u1', shape: [heightPx, widthPx, 3], bytes: pixels };
    return [`observation/${camera}`, array] as const;
  });
  return {
    'observation/state': floatsOf([...positionsRad, gripper]),
    ...(effort == null ? {} : { 'observation/effort': floatsOf(effort) }),
    ...Object.fromEntries([...pictures, ...ages]),
    prompt: task,
  };
}

function floatsOf(numbers: readonly number[]): NdArray {
  const values = Float32Array.from(numbers);
  return { dtype: '<f4', shape: [values.length], bytes: new Uint8Array(values.buffer) };
}

/** Throws for anything but rows of numbers. */
export function chunkOfAnswer(bytes: Uint8Array): Chunk {
  const answer = answerSchema.safeParse(unpack(bytes));
  if (!answer.success) throw new Error('the answer has no array `actions` of float32 or float64');
  const { actions } = answer.data;
  const { dtype, shape, data } = actions;
  const [rows, width] = [shape.at(-2) ?? 1, shape.at(-1)!];
  const size = WIDTHS[dtype]!;
  if (shape.length === 3 && shape[0] !== 1) throw new Error('the answer has several chunks');
  if (rows > MAX_ROWS || data.length !== rows * width * size)
    throw new Error(`the answer has ${data.length} bytes for ${rows} rows of ${width}`);
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const at = (i: number) => (size === 4 ? view.getFloat32(4 * i, true) : view.getFloat64(8 * i, true));
  return { rows, width, values: Float64Array.from({ length: rows * width }, (_, i) => at(i)) };
}
