import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { pack, unpack } from './msgpack.ts';
import type { Observation } from './observation.ts';
import { chunkOfAnswer, requestOf } from './openpi-policy.ts';
import { ANSWER, ANSWER_F8, METADATA } from './openpi-vectors.ts';

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));
const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

describe('MessagePack as openpi sends it', () => {
  it('reads what Python’s msgpack wrote', () => {
    assert.deepEqual(plain(unpack(bytes(METADATA))), {
      ...{ fps: 10, joints: ['a', 'b'], reset_pose: [0.5, -1], nothing: null, big: 2 ** 40, neg: -5000 },
    });
    assert.deepEqual(chunkOfAnswer(bytes(ANSWER)), {
      ...{ rows: 2, width: 3, values: Float64Array.of(1.5, -2.25, 0, 0.5, 3, 1) },
    });
    assert.deepEqual(chunkOfAnswer(bytes(ANSWER_F8)).values, Float64Array.of(0.125, 7));
  });

  it('an array has byte-string keys, its bytes, type and shape', () => {
    const observation = {
      state: { positionsRad: [0.5], gripper: 1 },
      frames: { front: { bytes: Uint8Array.of(1), ageMs: 41.5 } },
      task: 'sort',
    } as unknown as Observation;
    const pixels = new Uint8Array(6).fill(9);
    const picture = { kind: 'rgb', pixels, widthPx: 2, heightPx: 1 } as const;
    const packed = pack(requestOf(observation, () => picture));
    const array = 'de0004c40b5f5f6e6461727261795f5fc3c40464617461';
    const hex = Buffer.from(packed).toString('hex');
    assert.ok(hex.includes(`${array}c4080000003f0000803fc4056474797065d9033c6634c4057368617065dc0001`), hex);
    const read = unpack(new Uint8Array(packed)) as Record<string, unknown>;
    const { prompt, 'observation/front': front, 'age_ms/front': ageMs } = read;
    assert.deepEqual([prompt, ageMs, 'observation/effort' in read], ['sort', 41.5, false]);
    assert.deepEqual(plain(front), {
      ...{ __ndarray__: true, data: plain(picture.pixels), dtype: '|u1', shape: [1, 2, 3] },
    });
    const felt = { ...observation, state: { ...observation.state, effort: [0.5, 2] } };
    const { 'observation/effort': effort } = unpack(pack(requestOf(felt, () => picture))) as typeof read;
    assert.deepEqual(Buffer.from((effort as { data: Uint8Array }).data).toString('hex'), '0000003f00000040');
  });

  it('any bytes are a value or an error, and soon', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (data) => {
        try {
          chunkOfAnswer(data);
          assert.fail('random bytes are no answer');
        } catch (error) {
          assert.ok(error instanceof Error && error.name !== 'AssertionError');
        }
      }),
    );
    for (let cut = 0; cut < ANSWER.length / 2; cut++)
      assert.throws(() => unpack(bytes(ANSWER).subarray(0, cut)));
    assert.throws(() => unpack(new Uint8Array(100).fill(0x91)), /deep/);
    assert.throws(() => unpack(bytes('dfffffffff')), /cut off/);
    const many = Buffer.concat([bytes('dd00200000'), Buffer.alloc(2 ** 21)]);
    assert.throws(() => unpack(many), /more than 100000 values/);
  });

  it('rejects answers without an array of floats in one line', () => {
    const none = Buffer.from(pack({ actions: 'none', fps: 10 }));
    assert.throws(
      () => chunkOfAnswer(none),
      /^Error: the answer has no array `actions` of float32 or float64$/,
    );
    for (const dtype of ['<f2', '<i8', '>f4', '|O'])
      assert.throws(() =>
        chunkOfAnswer(pack({ actions: { dtype, shape: [1, 1], bytes: new Uint8Array(8) } })),
      );
  });

  it('rejects an answer whose bytes do not fit its shape', () => {
    const wrong = ANSWER.replace('920203', '920204');
    assert.throws(() => chunkOfAnswer(bytes(wrong)), /24 bytes for 2 rows of 4/);
  });
});
