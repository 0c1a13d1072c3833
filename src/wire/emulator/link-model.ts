import { Random, TimeNoise } from '../../core/random.ts';
import { NS_PER_MS, NS_PER_S } from '../../core/time/clock.ts';
import { Bottleneck } from './bottleneck.ts';
import { type LinkEvent, leftOfEventNs } from './events.ts';
import type { Impairment } from './impairment.ts';
import { type TraceTable, traceDelayNs } from './trace-table.ts';
import { BloatWeather, BlockWeather, StormWeather } from './weather.ts';

/** Why a datagram never comes out. `overflow` is set by the owner of the datagrams: its memory was full. */
export const LOSSES = ['random', 'burst', 'hole', 'block', 'queue', 'trace', 'overflow'] as const;
export type Loss = (typeof LOSSES)[number];

/** Everything that determines one direction; plain data, so that it can cross threads. */
export interface DirectionSettings {
  /** Shown to people. */
  label: string;
  impairment: Impairment;
  events: readonly LinkEvent[];
  trace: TraceTable | null;
  /** Where in the trace time 0 is. */
  tracePhaseNs: number;
}

/**
 * One direction of an emulated link, without I/O: when does a datagram that enters now come out?
 * The same settings, seed and arrivals give the same answers. Hot path.
 */
export class LinkModel {
  /** After `admit` returned a time: when a duplicate comes out, or NaN. */
  copyNs = Number.NaN;
  /** After `admit` returned null: the reason. */
  loss: Loss = 'random';
  /** Latest delivery of an in-order datagram. */
  lastDeliverNs: number;
  readonly #settings: DirectionSettings;
  readonly #startNs: number;
  readonly #losses: Random;
  readonly #extras: Random;
  readonly #copies: Random;
  readonly #jitter: TimeNoise;
  readonly #drift: TimeNoise;
  readonly #routes: TimeNoise;
  readonly #blocks: BlockWeather[];
  readonly #storms: StormWeather | null;
  readonly #bloat: BloatWeather | null;
  readonly #bottleneck: Bottleneck;
  #inBadSpell = false;
  #timeNs = 0;

  /**
   * `direction` keeps the random streams of the two directions apart. `lastDeliverNs` is that of the model this
   * one replaces, so that a change of settings does not let datagrams overtake.
   */
  constructor(
    settings: DirectionSettings,
    seed: number,
    direction: string,
    startNs: number,
    lastDeliverNs = Number.NEGATIVE_INFINITY,
  ) {
    const { jitter, drift, route, blocks, storms, bloat, rate } = settings.impairment;
    const random = (purpose: string) => new Random(seed, `${direction}/${purpose}`);
    const noise = (purpose: string, stepNs: number) => new TimeNoise(seed, `${direction}/${purpose}`, stepNs);
    this.#settings = settings;
    this.#startNs = startNs;
    this.lastDeliverNs = lastDeliverNs;
    this.#losses = random('loss');
    this.#extras = random('extras');
    this.#copies = random('copies');
    this.#jitter = noise('jitter', jitter.stepMs * NS_PER_MS);
    this.#drift = noise('drift', drift.stepS * NS_PER_S);
    this.#routes = noise('routes', route.everyS * NS_PER_S);
    this.#blocks = blocks.map((spec, i) => new BlockWeather(spec, random(`blocks ${i}`)));
    this.#storms = storms ? new StormWeather(storms, random('storms'), noise('queues', 5 * NS_PER_MS)) : null;
    this.#bloat = bloat ? new BloatWeather(bloat, random('bloat')) : null;
    this.#bottleneck = new Bottleneck(rate);
  }

  /** When a datagram that enters at `nowNs` comes out; null when it is lost (see `loss`). */
  admit(nowNs: number, bytes: number): number | null {
    // Receive stamps of two sockets may be out of order by microseconds.
    this.#timeNs = Math.max(this.#timeNs, nowNs - this.#startNs);
    const timeNs = this.#timeNs;
    for (const blocks of this.#blocks) blocks.moveTo(timeNs);
    this.#storms?.moveTo(timeNs);
    this.#bloat?.moveTo(timeNs);
    const lost = this.#isLost(timeNs);
    if (lost !== null) return this.#lose(lost);
    const { trace, tracePhaseNs } = this.#settings;
    const traceNs = trace === null ? 0 : traceDelayNs(trace, timeNs + tracePhaseNs);
    if (Number.isNaN(traceNs)) return this.#lose('trace');
    const departNs = this.#bottleneck.enter(timeNs, this.#heldUntil(timeNs), bytes);
    if (Number.isNaN(departNs)) return this.#lose('queue');
    const outNs = Math.max(nowNs, this.#startNs + departNs + traceNs + this.#delayNs(timeNs));
    return this.#order(outNs);
  }

  #lose(loss: Loss): null {
    this.loss = loss;
    return null;
  }

  #isLost(timeNs: number): Loss | null {
    for (const event of this.#settings.events)
      if (event.kind === 'hole' && leftOfEventNs(event, timeNs) > 0) return 'hole';
    for (const blocks of this.#blocks) if (blocks.isLost(timeNs)) return 'block';
    const { share, burstShare, burstDatagrams, burstLoss } = this.#settings.impairment.loss;
    if (burstShare > 0) {
      const turns = this.#inBadSpell ? 1 / burstDatagrams : burstShare;
      if (this.#losses.chance(turns)) this.#inBadSpell = !this.#inBadSpell;
      if (this.#inBadSpell && this.#losses.chance(burstLoss)) return 'burst';
    }
    return this.#losses.chance(share) ? 'random' : null;
  }

  #heldUntil(timeNs: number): number {
    let untilNs = timeNs;
    for (const event of this.#settings.events)
      if (event.kind === 'stall') untilNs = Math.max(untilNs, timeNs + leftOfEventNs(event, timeNs));
    for (const blocks of this.#blocks) untilNs = Math.max(untilNs, blocks.heldUntil(timeNs));
    return Math.max(untilNs, this.#storms?.heldUntil(timeNs) ?? 0);
  }

  /** Time in transit, without queueing. */
  #delayNs(timeNs: number): number {
    const { delayMs, minDelayMs, jitter, drift, route, tails } = this.#settings.impairment;
    let ms = delayMs;
    if (jitter.sdMs > 0) ms += jitter.sdMs * this.#jitter.at(timeNs);
    if (jitter.whiteSdMs > 0) ms += jitter.whiteSdMs * this.#extras.normal();
    ms = Math.max(minDelayMs, ms);
    if (drift.sdMs > 0) ms += drift.sdMs * Math.max(0, this.#drift.at(timeNs));
    if (route.rangeMs > 0) ms += route.rangeMs * this.#routes.stepAt(timeNs);
    for (const tail of tails)
      if (this.#extras.chance(tail.share)) ms += tail.minMs + this.#extras.exponential(tail.meanMs);
    const extraNs = (this.#storms?.extraNs(timeNs) ?? 0) + (this.#bloat?.extraNs(timeNs) ?? 0);
    return ms * NS_PER_MS + extraNs;
  }

  #order(outNs: number): number {
    const { fifo, spacingMs, straggler, duplicate } = this.#settings.impairment;
    let deliverNs = outNs;
    if (this.#copies.chance(straggler.share))
      deliverNs += this.#copies.between(straggler.extraMs) * NS_PER_MS;
    else {
      if (fifo) deliverNs = Math.max(outNs, this.lastDeliverNs + spacingMs * NS_PER_MS);
      this.lastDeliverNs = Math.max(this.lastDeliverNs, deliverNs);
    }
    const copied = this.#copies.chance(duplicate.share);
    this.copyNs = copied ? deliverNs + duplicate.afterMs * NS_PER_MS : Number.NaN;
    return deliverNs;
  }
}
