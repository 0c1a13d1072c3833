import { z } from 'zod';
import { parseJson } from '../core/parse-json.ts';
import type { LiveTopic } from './live-topics.ts';

/** Both names of the protocol; what this server uses is the same in them. */
export const SUBPROTOCOLS = ['foxglove.websocket.v1', 'foxglove.sdk.v1'];
export const MAX_MESSAGE_BYTES = 64 * 1024;
const MAX_SUBSCRIPTIONS = 256;
const MESSAGE_DATA = 1;
/** Opcode, number of the subscription, time. */
const HEAD_BYTES = 1 + 4 + 8;
const ERROR_LEVEL = 2;

const id = z.int().min(0).max(0xffff_ffff);
const requestSchema = z.discriminatedUnion('op', [
  z.object({
    op: z.literal('subscribe'),
    subscriptions: z.array(z.object({ id, channelId: id })).max(MAX_SUBSCRIPTIONS),
  }),
  z.object({ op: z.literal('unsubscribe'), subscriptionIds: z.array(id).max(MAX_SUBSCRIPTIONS) }),
]);

/** Messages for one viewer. */
export interface Outlet {
  text(message: string): void;
  bytes(message: Uint8Array): void;
}

/** One viewer of the Foxglove WebSocket protocol, without its socket. It may subscribe, nothing else. */
export class FoxgloveSession {
  readonly #topics: readonly LiveTopic[];
  readonly #outlet: Outlet;
  readonly #onSubscribe: (topic: string) => void;
  /** Channel by subscription. A channel's number is its place in the list. */
  readonly #subscriptions = new Map<number, number>();

  constructor(topics: readonly LiveTopic[], outlet: Outlet, onSubscribe: (topic: string) => void) {
    this.#topics = topics;
    this.#outlet = outlet;
    this.#onSubscribe = onSubscribe;
  }

  greet(name: string, sessionId: string): void {
    this.#send({ op: 'serverInfo', name, capabilities: [], supportedEncodings: [], metadata: {}, sessionId });
    this.#send({ op: 'advertise', channels: this.#topics.map((topic, i) => ({ id: i, ...topic })) });
  }

  receive(text: string): void {
    const request = parseJson(text, requestSchema, MAX_MESSAGE_BYTES);
    if (typeof request === 'string')
      return this.#complain(`rejected (${request}): viewers can only subscribe and unsubscribe`);
    if (request.op === 'unsubscribe') {
      for (const each of request.subscriptionIds) this.#subscriptions.delete(each);
      return;
    }
    for (const { id: subscription, channelId } of request.subscriptions)
      this.#subscribe(subscription, channelId);
  }

  #subscribe(subscription: number, channel: number): void {
    const topic = this.#topics[channel]?.topic;
    if (topic === undefined) return this.#complain(`there is no channel ${channel}`);
    if (this.#subscriptions.has(subscription))
      return this.#complain(`there is a subscription ${subscription} already`);
    if (this.#subscriptions.size >= MAX_SUBSCRIPTIONS) return this.#complain('too many subscriptions');
    this.#subscriptions.set(subscription, channel);
    this.#onSubscribe(topic);
  }

  reads(topic: string): boolean {
    for (const channel of this.#subscriptions.values())
      if (this.#topics[channel]!.topic === topic) return true;
    return false;
  }

  /** To each of its subscriptions of that topic. */
  publish(topic: string, timeNs: bigint, payload: Uint8Array): void {
    for (const [subscription, channel] of this.#subscriptions)
      if (this.#topics[channel]!.topic === topic)
        this.#outlet.bytes(messageData(subscription, timeNs, payload));
  }

  #complain(message: string): void {
    this.#send({ op: 'status', level: ERROR_LEVEL, message });
  }

  #send(message: unknown): void {
    this.#outlet.text(JSON.stringify(message));
  }
}

function messageData(subscription: number, timeNs: bigint, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(HEAD_BYTES + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, MESSAGE_DATA);
  view.setUint32(1, subscription, true);
  view.setBigUint64(5, timeNs, true);
  bytes.set(payload, HEAD_BYTES);
  return bytes;
}
