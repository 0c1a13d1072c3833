import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { BentoSimulation } from '../../sim/bento/simulation.ts';
import type { MakeWorld } from '../../sim/bento/world.ts';
import { pluginConfig } from '../../src/app/registry.ts';
import { ManualClock } from '../../src/core/time/clock.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import {
  BRACHIOPLEXUS_MAX_BYTES,
  BRACHIOPLEXUS_PERIOD_MS,
  type BrachioplexusPacket,
  decodeBrachioplexus,
  emptyBrachioplexus,
  encodeBrachioplexus,
  PACKET,
} from '../../src/robot/drivers/bento/brachioplexus-codec.ts';
import type { BentoConfig } from '../../src/robot/drivers/bento/config.ts';
import plugin, { BentoDriver } from '../../src/robot/drivers/bento/index.ts';

const MS = 1e6;

/** The driver's peer. */
export interface Peer {
  receive(bytes: Uint8Array): void;
  /** Called every millisecond; what it returns goes to the driver. */
  speak(nowNs: number): { bytes: Uint8Array; isFromArm: boolean } | null;
}

/** When the copies of a datagram arrive, in milliseconds from now; none: it is lost. */
export type Impairment = () => number[];

interface InFlight {
  atNs: number;
  deliver: () => void;
}

/** The driver and its peer, connected in memory. Driver, timers and peer share one simulated time. */
export class BentoBench {
  readonly clock = new ManualClock(20e9);
  readonly peer: Peer;
  readonly driver: BentoDriver;
  impair: Impairment = () => [0];
  #receive: (bytes: Uint8Array, isFromArm: boolean) => void = () => {};
  #inFlight: InFlight[] = [];

  /** `options`: settings of the driver. */
  constructor(peer: Peer, options: Record<string, unknown> = {}, model = 'bento') {
    mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
    this.peer = peer;
    const config = pluginConfig('driver', 'bento', plugin, options) as BentoConfig;
    this.driver = new BentoDriver(config, loadModel(model), this.clock, {
      open: async (receive) => {
        this.#receive = receive;
      },
      send: (bytes, length) => {
        const copy = bytes.slice(0, length);
        this.#carry(() => peer.receive(copy));
      },
      close: () => {},
    });
  }

  async open(): Promise<this> {
    let isOpen = false;
    const opening = this.driver.open().finally(() => {
      isOpen = true;
    });
    opening.catch(() => {});
    while (!isOpen) {
      this.run(1);
      await new Promise(setImmediate);
    }
    await opening;
    return this;
  }

  /** Advances time; calls `each` every 5 ms, like the control loop. */
  run(ms: number, each?: () => void): void {
    for (let t = 0; t < ms; t++) {
      if (t % 5 === 0) each?.();
      this.clock.advanceBy(MS);
      const said = this.peer.speak(this.clock.nowNs());
      if (said !== null) this.#carry(() => this.#receive(said.bytes, said.isFromArm));
      this.#deliver();
      mock.timers.tick(1);
    }
  }

  close(): void {
    this.driver.dispose();
    mock.timers.reset();
  }

  #carry(deliver: () => void): void {
    for (const ms of this.impair()) this.#inFlight.push({ atNs: this.clock.nowNs() + ms * MS, deliver });
  }

  #deliver(): void {
    const nowNs = this.clock.nowNs();
    const due = this.#inFlight.filter(({ atNs }) => atNs <= nowNs).sort((a, b) => a.atNs - b.atNs);
    this.#inFlight = this.#inFlight.filter(({ atNs }) => atNs > nowNs);
    for (const { deliver } of due) deliver();
  }
}

/** Unity at byte level: records what it receives, and sends what the test sets. */
export class BytePeer implements Peer {
  readonly received: BrachioplexusPacket[] = [];
  readonly counts = [2048, 2048, 2048, 2048, 2048];
  /** Sent instead of valid feedback. */
  garbage: Uint8Array | null = null;
  silent = false;
  isFromArm = true;
  #nextNs = 0;

  receive(bytes: Uint8Array): void {
    const packet = emptyBrachioplexus();
    assert.equal(decodeBrachioplexus(bytes, bytes.length, packet), null);
    this.received.push(packet);
  }

  speak(nowNs: number): { bytes: Uint8Array; isFromArm: boolean } | null {
    if (nowNs < this.#nextNs || this.silent) return null;
    this.#nextNs = nowNs + BRACHIOPLEXUS_PERIOD_MS * MS;
    const packet = emptyBrachioplexus(PACKET.feedback);
    packet.positions.set(this.counts);
    const bytes = new Uint8Array(BRACHIOPLEXUS_MAX_BYTES);
    const length = encodeBrachioplexus(packet, bytes);
    return { bytes: this.garbage ?? bytes.slice(0, length), isFromArm: this.isFromArm };
  }

  last(type: number): BrachioplexusPacket | undefined {
    return this.received.findLast((packet) => packet.type === type);
  }
}

/** The virtual arm, without its process. */
export class VirtualArm implements Peer {
  readonly simulation: BentoSimulation;
  readonly #reply = new Uint8Array(BRACHIOPLEXUS_MAX_BYTES);
  #nowNs = 0;
  #nextNs = 0;

  constructor(makeWorld: MakeWorld, deadManMs = 200) {
    this.simulation = new BentoSimulation(makeWorld, null, deadManMs);
  }

  receive(bytes: Uint8Array): void {
    this.simulation.receive(bytes, bytes.length, this.#nowNs, this.#reply);
  }

  speak(nowNs: number): { bytes: Uint8Array; isFromArm: boolean } | null {
    this.#nowNs = nowNs;
    this.simulation.advance(nowNs);
    if (nowNs < this.#nextNs) return null;
    this.#nextNs = nowNs + BRACHIOPLEXUS_PERIOD_MS * MS;
    const length = this.simulation.feedback(this.#reply);
    return length === 0 ? null : { bytes: this.#reply.slice(0, length), isFromArm: true };
  }
}
