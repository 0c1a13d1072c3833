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

/** A request may follow one that was never answered; ZeroMQ drops the answer to a question that was given up. */
async function overZmq(address: string): Promise<PolicyChannel> {
  const { Request } = await loadZmq('Reach the policy over HTTP instead, or install the package zeromq.');
  const socket = new Request({ linger: 0, relaxed: true, correlate: true });
  socket.connect(address);
  let waiting: ((answer: unknown) => void) | null = null;
  const receive = async (): Promise<void> => {
    for await (const [bytes] of socket) {
      const answer = parse(String(bytes));
      waiting?.(answer);
      waiting = null;
    }
  };
  receive().catch(() => {});
  return {
    async ask(observation) {
      await socket.send(JSON.stringify(observation));
      return new Promise((resolve) => {
        waiting = resolve;
      });
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
