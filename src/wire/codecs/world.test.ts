import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  MAX_WORLD_BODIES,
  WORLD_OUTCOMES,
  WORLD_POSE_SIZE,
  WORLD_STATE,
} from '../../messages/world-state.ts';
import { MAX_DATAGRAM_BYTES } from '../reactor.ts';
import { frameBody, frameType, writeFrame } from './frame.ts';
import { decodeWorld, encodeWorld } from './world.ts';

const place = fc.double({ min: -2, max: 2, noNaN: true });

describe('world message', () => {
  it('survives a round trip, lengths to 10 µm', () => {
    const bytes = new Uint8Array(MAX_DATAGRAM_BYTES);
    const poses = fc.array(place, { minLength: WORLD_POSE_SIZE, maxLength: 5 * WORLD_POSE_SIZE });
    fc.assert(
      fc.property(poses, fc.maxSafeNat(), fc.constantFrom(...WORLD_OUTCOMES), (given, seed, outcome) => {
        const sent = WORLD_STATE.create();
        const back = WORLD_STATE.create();
        sent.bodies = Math.floor(given.length / WORLD_POSE_SIZE);
        sent.poses.set(given.slice(0, sent.bodies * WORLD_POSE_SIZE));
        sent.seed = seed;
        sent.outcome = outcome;
        sent.held = 1;
        sent.gripM.set([0.1, -0.2, 0.3]);
        const length = encodeWorld({ boot: 7, session: 9 }, 'sort', sent, bytes);
        assert.equal(frameType(bytes, length), 'world');
        const origin = { boot: 0, session: 0 };
        assert.deepEqual(decodeWorld(bytes, length, back, origin), { task: 'sort' });
        assert.deepEqual(origin, { boot: 7, session: 9 });
        sent.packed.forEach((value, i) => {
          assert.ok(Math.abs(value - back.packed[i]!) <= 1e-5);
        });
      }),
    );
  });

  it('fits a datagram with as many bodies as there may be', () => {
    const full = WORLD_STATE.create();
    full.packed.fill(-1.234567);
    full.seed = Number.MAX_SAFE_INTEGER;
    full.bodies = MAX_WORLD_BODIES;
    full.outcome = 'running';
    const length = encodeWorld(
      { boot: 2 ** 31, session: 2 ** 31 },
      'x'.repeat(40),
      full,
      new Uint8Array(MAX_DATAGRAM_BYTES),
    );
    assert.ok(length > 0);
  });

  it('rejects a field that is missing or wrong, and never more bodies than there is room for', () => {
    const bytes = new Uint8Array(4096);
    const world = WORLD_STATE.create();
    world.bodies = 1;
    const valid = frameBody(bytes, encodeWorld({ boot: 1, session: 2 }, 'sort', world, bytes))!;
    const reasonOf = (body: object) => {
      const length = writeFrame('world', body, bytes);
      return decodeWorld(bytes, length, WORLD_STATE.create(), { boot: 0, session: 0 });
    };
    assert.deepEqual(reasonOf(valid), { task: 'sort' });
    for (const name of Object.keys(valid))
      for (const value of [undefined, null, {}, 'x', [1], [null, 1, 2]]) {
        if (name === 'task' && value === 'x') continue;
        assert.equal(reasonOf({ ...valid, [name]: value }), 'malformed', `${name} ${String(value)}`);
      }
    const many = new Array((MAX_WORLD_BODIES + 1) * WORLD_POSE_SIZE).fill(0);
    assert.equal(reasonOf({ ...valid, bodies: many }), 'malformed');
  });
});
