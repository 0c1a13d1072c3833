import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HAND_SHAPES, type HandShape, shapeHand } from '../../hand/model-hand.ts';
import { HAND_NUMBERS, spreadHandPoints } from '../../hand/points.ts';
import { emptyHandSample, type HandSample } from '../../messages/hand-sample.ts';
import { encodeHandToken } from '../codecs/openteach-codec.ts';
import type { InputDevice } from '../device.ts';
import plugin from './openteach.ts';

const MS = 1e6;
const START_NS = 5e9;
const SENDER = 77;
const [HAND, BUTTON, PAUSE] = [0, 1, 2];

function token(positionM: readonly number[], isLeft = false, shape: HandShape = HAND_SHAPES.open): string {
  const pointsM = new Float64Array(HAND_NUMBERS);
  shapeHand(shape, { positionM, pitchRad: 0 }, isLeft, pointsM);
  const sent = new Float64Array(72);
  spreadHandPoints(pointsM, 24, 'unity', sent);
  return encodeHandToken('absolute', 24, sent);
}

class Bench {
  readonly device: InputDevice;
  nowNs = START_NS;

  constructor(options: Record<string, unknown> = {}) {
    this.device = plugin.open(plugin.config.parse(options), START_NS);
  }

  send(text: string, socket = HAND, from = SENDER): string | null {
    const bytes = new TextEncoder().encode(text);
    return this.device.ingest(bytes, bytes.length, this.nowNs, from, socket);
  }

  /** At 60 Hz. */
  run(ms: number, positionM: readonly number[] = [0.2, 1, -0.4]): void {
    const endNs = this.nowNs + ms * MS;
    while (this.nowNs < endNs) {
      this.nowNs += 1e9 / 60;
      assert.equal(this.send(token(positionM)), null);
    }
  }

  sample(afterMs = 0): HandSample & { status: string } {
    const out = emptyHandSample();
    const status = this.device.sample(this.nowNs + afterMs * MS, out);
    return { ...out, status };
  }
}

const near = (actual: ArrayLike<number>, expected: readonly number[]): void => {
  for (const [i, value] of expected.entries())
    assert.ok(Math.abs(actual[i]! - value) < 1e-6, `${Array.from(actual)}`);
};

describe('the OpenTeach input', () => {
  it('drives once the hand was visible without a break, and reports its points', () => {
    const bench = new Bench();
    bench.run(200);
    assert.deepEqual([bench.sample().tracking, bench.sample().clutch], [true, false]);
    bench.run(200);
    const { clutch, points, pointsM, isLeft, positionM } = bench.sample();
    assert.deepEqual([clutch, points, isLeft], [true, 21, false]);
    near(positionM, [0.2, 1, -0.4]);
    near(pointsM, [0.2, 1, -0.4]);
  });

  it('is lost after a silence and then has no points', () => {
    const bench = new Bench();
    bench.run(500);
    assert.equal(bench.sample(140).status, 'ok');
    const { status, tracking, clutch, points } = bench.sample(160);
    assert.deepEqual([status, tracking, clutch, points], ['stale', false, false, 0]);
    bench.nowNs += 500 * MS;
    bench.run(200);
    assert.equal(bench.sample().clutch, false, 'it must be visible for a while again');
    bench.run(200);
    assert.equal(bench.sample().clutch, true);
  });

  it('opens the clutch while paused', () => {
    const bench = new Bench();
    bench.run(500);
    for (const [text, clutch] of [
      ['High', true],
      ['Low', false],
      ['High', true],
      ['Low', false],
      ['None', true],
    ] as const) {
      assert.equal(bench.send(text, PAUSE), null);
      assert.equal(bench.sample().clutch, clutch, text);
      assert.equal(bench.sample().tracking, true);
    }
    bench.send('Low', PAUSE);
    bench.run(2000);
    assert.equal(bench.sample().clutch, false, 'until unpaused');
  });

  it('scales down the wrist’s motion at low resolution, without a step', () => {
    const bench = new Bench();
    bench.run(100, [0, 1, 0]);
    bench.send('Low', BUTTON);
    near(bench.sample().positionM, [0, 1, 0]);
    bench.run(20, [0.1, 1, 0]);
    near(bench.sample().positionM, [0.06, 1, 0]);
    bench.send('High', BUTTON);
    bench.run(20, [0.2, 1, 0]);
    near(bench.sample().positionM, [0.16, 1, 0]);
    near(bench.sample().pointsM, [0.2, 1, 0]);
  });

  it('recognises a palm facing down and pointing ahead, of either hand', () => {
    for (const hand of ['right', 'left'] as const) {
      const bench = new Bench({ hand });
      bench.send(token([0, 0, 0], hand === 'left'));
      const { quatXyzw, isLeft } = bench.sample();
      assert.equal(isLeft, hand === 'left');
      assert.ok(quatXyzw[3]! > 0.995, `${quatXyzw}`);
    }
  });

  it('closes the gripper with a pinch', () => {
    const bench = new Bench();
    bench.send(token([0, 0, 0], false, HAND_SHAPES.open));
    assert.ok(bench.sample().gripper < 0.4);
    bench.send(token([0, 0, 0], false, HAND_SHAPES.pinch));
    assert.equal(bench.sample().gripper, 1);
  });

  it('rejects invalid hands and continues', () => {
    const bench = new Bench();
    const flat = encodeHandToken('absolute', 24, new Float64Array(72));
    const far = token([300, 1, 0]);
    bench.run(500);
    assert.equal(bench.send(flat), 'degenerate');
    assert.equal(bench.send(far), 'bad-range');
    assert.equal(bench.send('absolute:'), 'empty-hand');
    assert.equal(bench.send('on', PAUSE), 'malformed');
    assert.equal(bench.send('', BUTTON), 'empty');
    assert.equal(bench.sample().clutch, true);
    bench.run(50);
    assert.equal(bench.sample().clutch, true);
  });

  it('binds every port of the app, and feeds the hand that drives', () => {
    const relays = (values: Record<string, unknown>) =>
      plugin.relays!(plugin.config.parse(values)).map(({ port, socket, pattern, bind }) => [
        port,
        socket,
        pattern,
        bind,
      ]);
    assert.deepEqual(relays({}), [
      [8087, HAND, 'pull', true],
      [8110, null, 'pull', true],
      [8095, BUTTON, 'pull', true],
      [8100, PAUSE, 'pull', true],
    ]);
    assert.deepEqual(relays({ hand: 'left', otherHand: 'leave', pausePort: 0 }), [
      [8110, HAND, 'pull', true],
      [8095, BUTTON, 'pull', true],
    ]);
    assert.deepEqual(relays({ topology: 'pub', publisherHost: '192.0.2.5' }), [[8087, HAND, 'sub', false]]);
    assert.deepEqual(relays({ topology: 'pub' }), [[8087, HAND, 'sub', true]]);
  });

  it('converts JSON too long for a datagram to tokens', () => {
    const [relay] = plugin.relays!(plugin.config.parse({}));
    const pointsM = Float64Array.from({ length: 78 }, (_, i) => Math.sin(i) / 3);
    const json = JSON.stringify(
      Array.from({ length: 26 }, (_, i) => [...pointsM.subarray(3 * i, 3 * i + 3)]),
    );
    const short = relay!.shorten!(new TextEncoder().encode(json))!;
    assert.ok(json.length > 1472 && short.length < 1000);
    assert.equal(relay!.shorten!(new Uint8Array(2000)), null);
  });
});
