import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withStamp } from '../camera/jpeg-structure.ts';
import { SliceAssembler } from '../camera/slice-assembler.ts';
import { CameraLine, isAcknowledgementDue, NUMBER_BYTES } from './camera-line.ts';

const MS = 1e6;

/** A path with a limited rate: a queue in front of it, and acknowledgements back from its end. */
class Route {
  readonly line: CameraLine;
  readonly pictures: number[] = [];
  readonly #bytesPerMs: number;
  readonly #delayMs: number;
  readonly #packets: { atMs: number; bytes: Uint8Array }[] = [];
  readonly #acknowledgements: { atMs: number; number: number }[] = [];
  readonly #assembler = new SliceAssembler(
    (jpeg) => this.pictures.push(jpeg.length),
    () => {},
    500 * MS,
  );
  #freeMs = 0;
  nowMs = 1;
  queuedMs = 0;
  lose: (count: number) => boolean = () => false;
  #count = 0;

  constructor(bytesPerMs: number, delayMs: number) {
    this.#bytesPerMs = bytesPerMs;
    this.#delayMs = delayMs;
    this.line = new CameraLine((message) => {
      this.#freeMs = Math.max(this.#freeMs, this.nowMs) + message.length / this.#bytesPerMs;
      this.queuedMs = Math.max(this.queuedMs, this.#freeMs - this.nowMs);
      this.#packets.push({ atMs: this.#freeMs + this.#delayMs, bytes: message.slice() });
      return true;
    });
  }

  step(): void {
    this.nowMs += 1;
    while ((this.#packets[0]?.atMs ?? Number.POSITIVE_INFINITY) <= this.nowMs) this.#arrive();
    while ((this.#acknowledgements[0]?.atMs ?? Number.POSITIVE_INFINITY) <= this.nowMs)
      assert.ok(this.line.acknowledged(this.#acknowledgements.shift()!.number, this.nowMs * MS));
    while (this.line.pump(this.nowMs * MS));
  }

  #arrive(): void {
    const { bytes } = this.#packets.shift()!;
    if (this.lose(++this.#count)) return;
    const number = new DataView(bytes.buffer).getUint32(0, true);
    const slice = bytes.subarray(NUMBER_BYTES);
    this.#assembler.ingest(slice, slice.length, this.nowMs * MS);
    if (isAcknowledgementDue(number, bytes.length))
      this.#acknowledgements.push({ atMs: this.nowMs + this.#delayMs, number });
  }
}

const picture = (bytes: number): Uint8Array => {
  const jpeg = new Uint8Array(bytes).fill(7);
  jpeg.set([0xff, 0xd8], 0);
  jpeg.set([0xff, 0xd9], bytes - 2);
  return withStamp(jpeg, 12_345);
};

function run(route: Route, seconds: number, everyMs: number, jpeg = picture(40_000)): void {
  for (let ms = 0; ms < seconds * 1000; ms++) {
    if (ms % everyMs === 0) route.line.offer(jpeg, route.nowMs * MS);
    route.step();
  }
}

describe('pictures beside a link', () => {
  it('all arrive on a fast path', () => {
    const route = new Route(2000, 10);
    run(route, 3, 33);
    assert.ok(route.pictures.length >= 88, `${route.pictures.length} of 91`);
    assert.equal(route.line.dropped, 0);
  });

  it('are dropped, except the newest, before they fill the queue of a slow path', () => {
    const route = new Route(250, 20);
    run(route, 3, 33);
    route.queuedMs = 0;
    run(route, 6, 33);
    assert.ok(route.line.dropped > 50, `${route.line.dropped} dropped`);
    assert.ok(route.pictures.length > 20, `${route.pictures.length} still arrive`);
    assert.ok(route.queuedMs < 100, `the queue is ${route.queuedMs} ms long; one picture takes 160 ms`);
  });

  it('continue when slices and acknowledgements are lost', () => {
    const route = new Route(2000, 10);
    route.lose = (count) => count > 100 && count < 400;
    run(route, 3, 33);
    const seen = route.pictures.length;
    route.lose = (count) => count % 97 === 0;
    run(route, 3, 33);
    assert.ok(route.pictures.length > seen + 30, `${route.pictures.length - seen} more`);
  });

  it('are rejected if too large, and false acknowledgements change nothing', () => {
    const line = new CameraLine(() => true);
    assert.equal(line.offer(new Uint8Array(300_000), 0), false);
    assert.equal(line.dropped, 1);
    for (const number of [0, 1, 99, 0xffff_ffff]) assert.equal(line.acknowledged(number, 0), false);
  });
});
