import { z } from 'zod';
import { TeleopError } from '../core/errors.ts';
import { parseJson } from '../core/parse-json.ts';
import { MAX_JOINTS } from '../messages/hand-sample.ts';
import { loadZmq } from '../native/zeromq.ts';
import type { Observation } from './observation.ts';

/** What a policy may answer; null: no action now. The runner checks the joints. */
export interface PolicyAnswer {
  action?: number[] | null | undefined;
}

const MAX_ANSWER_BYTES = 64 * 1024;
const answerSchema: z.ZodType<PolicyAnswer, unknown> = z.object({
  action: z
    .array(z.number())
    .max(MAX_JOINTS + 1)
    .nullable()
    .optional(),
});

export interface PolicyChannel {
  ask(observation: Observation, signal: AbortSignal): Promise<PolicyAnswer>;
  close(): void;
}

/** `http://…`: JSON in a POST and in its answer. `tcp://…`: ZeroMQ, this side sends the requests. */
export async function openPolicy(address: string): Promise<PolicyChannel> {
  return /^http/.test(policyAddress(address)) ? overHttp(address) : overZmq(address);
}

/** The address, if it is valid for a policy. */
export function policyAddress(address: string): string {
  if (/^(https?|tcp|ipc):\/\//.test(address) && URL.canParse(address)) return address;
  throw new TeleopError('bad-option', `${address} is not a policy address`, {
    hint: 'Use http://127.0.0.1:8080/act, or tcp://127.0.0.1:5555 for ZeroMQ.',
  });
}

function overHttp(url: string): PolicyChannel {
  return {
    async ask(observation, signal) {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(observation),
        signal,
      });
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
      return parseAnswer(await limitedBody(answer));
    },
    close() {},
  };
}

/**
 * A request socket would wait for every answer before the next request. This one numbers its requests in the
 * envelope, which a REP socket returns unread, so that the answer to an abandoned request is recognised.
 */
async function overZmq(address: string): Promise<PolicyChannel> {
  const { Dealer } = await loadZmq('reach the policy over HTTP');
  const socket = new Dealer({ linger: 0, sendHighWaterMark: 2, sendTimeout: 0 });
  socket.connect(address);
  let question = 0;
  let waiting: (answer: PolicyAnswer) => void = () => {};
  const receive = async (): Promise<void> => {
    for await (const parts of socket)
      if (String(parts[0]) === String(question)) waiting(parseAnswer(parts.at(-1) ?? new Uint8Array(0)));
  };
  receive().catch(() => {});
  return {
    async ask(observation) {
      question++;
      const answer = new Promise<PolicyAnswer>((resolve) => {
        waiting = resolve;
      });
      await socket.send([String(question), '', JSON.stringify(observation)]);
      return answer;
    },
    close: () => socket.close(),
  };
}

/** Anything but JSON of that form is an answer without an action. */
export function parseAnswer(data: Uint8Array): PolicyAnswer {
  const answer = parseJson(data, answerSchema, MAX_ANSWER_BYTES);
  return typeof answer === 'string' ? {} : answer;
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
