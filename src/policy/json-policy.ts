import { z } from 'zod';
import { TeleopError } from '../core/errors.ts';
import { parseJson } from '../core/parse-json.ts';
import { MAX_JOINTS } from '../messages/hand-sample.ts';
import { loadZmq } from '../native/zeromq.ts';
import type { Observation } from './observation.ts';
import { type Chunk, chunkOf, EMPTY_CHUNK, MAX_ROWS, NO_FACTS, type Policy } from './policy.ts';

const MAX_ANSWER_BYTES = 1024 * 1024;
const row = z.array(z.number()).max(MAX_JOINTS + 1);
/** `actions`: rows of a chunk. `action`: a single row; null: no action now. */
const answerSchema = z.object({
  actions: z.array(row).max(MAX_ROWS).optional(),
  action: row.nullable().optional(),
});

/** `http://…`: JSON in a POST and in its answer. */
export function httpPolicy(url: string): Policy {
  return {
    facts: { ...NO_FACTS, name: url },
    async infer(observation, signal) {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: jsonOf(observation),
        signal,
      });
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
      return parseAnswer(await limitedBody(answer));
    },
    close() {},
  };
}

/**
 * `tcp://…`: ZeroMQ, this side sends the requests. A request socket would wait for every answer before the next request.
 * This one numbers its requests in the envelope, which a REP socket returns unread, so that answers find their request.
 */
export async function zmqPolicy(address: string): Promise<Policy> {
  const { Dealer } = await loadZmq('reach the policy over HTTP');
  const socket = new Dealer({ linger: 0, sendHighWaterMark: 4, sendTimeout: 0 });
  try {
    socket.connect(address);
  } catch (cause) {
    socket.close();
    throw new TeleopError('bad-option', `${address} is not an address of ZeroMQ`, {
      hint: 'Give tcp://HOST:PORT, without a path.',
      cause,
    });
  }
  let newest = 0;
  const waiting = new Map<string, (answer: Uint8Array) => void>();
  const receive = async (): Promise<void> => {
    for await (const parts of socket) waiting.get(String(parts[0]))?.(parts.at(-1) ?? new Uint8Array(0));
  };
  receive().catch(() => {});
  return {
    facts: { ...NO_FACTS, name: address },
    async infer(observation, signal) {
      const id = String(++newest);
      const answer = new Promise<Uint8Array>((resolve, reject) => {
        waiting.set(id, resolve);
        signal.addEventListener('abort', () => reject(new Error('given up')), { once: true });
      });
      // Rejected also when the request could not be sent and nobody waits for it.
      answer.catch(() => {});
      try {
        await socket.send([id, '', jsonOf(observation)]);
        return parseAnswer(await answer);
      } finally {
        waiting.delete(id);
      }
    },
    close: () => socket.close(),
  };
}

/** The observation as JSON, its pictures in base64. */
export function jsonOf({ instantNs: _, frames, ...rest }: Observation): string {
  const pictures = Object.entries(frames).map(([camera, { bytes, ...frame }]) => [
    camera,
    { ...frame, data: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64') },
  ]);
  return JSON.stringify({ ...rest, frames: Object.fromEntries(pictures) });
}

/** Throws for anything but JSON of that form. */
export function parseAnswer(data: Uint8Array): Chunk {
  const answer = parseJson(data, answerSchema, MAX_ANSWER_BYTES);
  if (typeof answer === 'string') throw new Error(`the answer is not valid: ${answer}`);
  if (answer.action === null) return EMPTY_CHUNK;
  const chunk = chunkOf(answer.actions ?? (answer.action === undefined ? undefined : [answer.action]));
  if (chunk === null) throw new Error('the answer has no actions');
  return chunk;
}

/** Reads at most the allowed size of an answer. */
async function limitedBody({ body }: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer exceeds ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
