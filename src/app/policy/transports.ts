import { TeleopError } from '../../core/errors.ts';
import { loadZmq } from '../../wire/transports/zmq-module.ts';
import type { Observation } from './observation.ts';

export interface PolicyChannel {
  ask(observation: Observation, signal: AbortSignal): Promise<unknown>;
  close(): void;
}

/** `http://…`: JSON in a POST and in its answer. `tcp://…`: ZeroMQ, we send the requests. */
export async function openPolicy(address: string): Promise<PolicyChannel> {
  if (/^https?:\/\//.test(address)) return overHttp(address);
  if (/^(tcp|ipc):\/\//.test(address)) return overZmq(address);
  throw new TeleopError('bad-option', `${address} is no address of a policy`, {
    hint: 'Give http://127.0.0.1:8080/act, or tcp://127.0.0.1:5555 for ZeroMQ.',
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
      return answer.json();
    },
    close() {},
  };
}

/**
 * A request socket would wait for every answer before the next question. This one numbers its questions in the envelope,
 * which a REP socket returns unread, so that the answer to a question that was given up is known for what it is.
 */
async function overZmq(address: string): Promise<PolicyChannel> {
  const { Dealer } = await loadZmq('Reach the policy over HTTP instead, or install the package zeromq.');
  const socket = new Dealer({ linger: 0, sendHighWaterMark: 2, sendTimeout: 0 });
  socket.connect(address);
  let question = 0;
  let waiting: (answer: unknown) => void = () => {};
  const receive = async (): Promise<void> => {
    for await (const parts of socket)
      if (String(parts[0]) === String(question)) waiting(parse(String(parts.at(-1))));
  };
  receive().catch(() => {});
  return {
    async ask(observation) {
      question++;
      const answer = new Promise((resolve) => {
        waiting = resolve;
      });
      await socket.send([String(question), '', JSON.stringify(observation)]);
      return answer;
    },
    close: () => socket.close(),
  };
}

/** What is no JSON is an answer without an action. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
