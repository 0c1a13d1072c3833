import { InputRelays } from '../app/input-relay.ts';
import { loadPlugin, pluginConfig } from '../app/registry.ts';
import { Counters } from '../core/counters.ts';
import { TeleopError } from '../core/errors.ts';
import { monotonicClock } from '../core/time/clock.ts';
import type { InputDevice } from '../input/device.ts';
import { emptyHandSample } from '../messages/hand-sample.ts';
import type { DatagramHandler, Peer } from '../wire/reactor.ts';
import { openDgramReactor } from '../wire/transports/udp-dgram.ts';

/** Called with the points of each hand received. */
export type OnHand = (pointsM: Float64Array, isLeft: boolean, receivedNs: number) => void;

/** Connects an input that tracks hands to a callback, without a robot. */
export class HandReceiver implements DatagramHandler {
  readonly #device: InputDevice;
  readonly #counters: Counters;
  readonly #sample = emptyHandSample();
  readonly #onHand: OnHand;
  close: () => Promise<void> = async () => {};

  private constructor(device: InputDevice, counters: Counters, onHand: OnHand) {
    this.#device = device;
    this.#counters = counters;
    this.#onHand = onHand;
  }

  static async open(name: string, values: Record<string, unknown>, onHand: OnHand): Promise<HandReceiver> {
    const plugin = await loadPlugin('input', name);
    const config = pluginConfig('input', name, plugin, values);
    const sockets = plugin.sockets?.(config) ?? [];
    if (sockets.length === 0)
      throw new TeleopError('bad-option', `input "${name}" does not listen on the network`, {
        hint: 'Choose one that tracks hands: --input openteach.',
      });
    const counters = new Counters();
    const receiver = new HandReceiver(plugin.open(config, monotonicClock.nowNs()), counters, onHand);
    const reactor = await openDgramReactor(sockets);
    const running = reactor.run(receiver);
    const relays = await InputRelays.open(
      (plugin.relays?.(config) ?? []).map((relay) => ({
        ...relay,
        toPort: relay.socket === null ? null : reactor.localPort(relay.socket),
      })),
      counters,
    );
    receiver.close = async () => {
      relays.close();
      reactor.stop();
      await running;
      reactor.close();
    };
    return receiver;
  }

  /** Rejected datagrams so far, by reason. */
  rejected(): Record<string, number> {
    return this.#counters.snapshot() as Record<string, number>;
  }

  onDatagram(socket: number, bytes: Uint8Array, length: number, from: Peer, receivedNs: number): void {
    const reason = this.#device.ingest(bytes, length, receivedNs, from, socket);
    if (reason !== null) return this.#counters.add(reason);
    const sample = this.#sample;
    sample.points = 0;
    const fresh = this.#device.sample(receivedNs, sample) === 'ok' && sample.takenNs === receivedNs;
    if (fresh && sample.points > 0) this.#onHand(sample.pointsM, sample.isLeft, receivedNs);
  }

  onOversize(): void {
    this.#counters.add('oversize');
  }

  nextDeadlineNs(): number {
    return Number.POSITIVE_INFINITY;
  }

  onDeadline(): void {}
}
