import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ContactDirections } from './contact-directions.ts';

const ROLLS = Uint8Array.of(1);
const STAYS = Uint8Array.of(0);

const directions = fc
  .tuple(
    fc.double({ min: -1, max: 1, noNaN: true }),
    fc.double({ min: -1, max: 1, noNaN: true }),
    fc.double({ min: -1, max: 1, noNaN: true }),
  )
  .filter((v) => Math.hypot(...v) > 0.1)
  .map((v) => Float64Array.from(v, (x) => x / Math.hypot(...v)));

const dot = (a: ArrayLike<number>, b: ArrayLike<number>) => a[0]! * b[0]! + a[1]! * b[1]! + a[2]! * b[2]!;

test('what is taken off along the kept direction is what the contact forbids, however it turns', () => {
  fc.assert(
    fc.property(fc.array(directions, { minLength: 1, maxLength: 6 }), (normals) => {
      const contact = new ContactDirections(1);
      for (const normal of normals) {
        const lean = contact.touch(0, normal, 0);
        assert.ok(Math.abs(dot(contact.away, normal) - lean) < 1e-9);
        assert.ok(lean >= 0.6 - 1e-9);
        contact.age();
      }
    }),
  );
});

test('a contact keeps its direction, and a still hand turns none', () => {
  fc.assert(
    fc.property(directions, directions, (first, next) => {
      const contact = new ContactDirections(1);
      contact.touch(0, first, 0);
      contact.age();
      contact.roll(STAYS, next, 1);
      contact.roll(ROLLS, next, 0);
      assert.ok(dot(contact.away, first) > 1 - 1e-9);
    }),
  );
});

test('a contact that rolls takes its present direction within two centimetres of the hand’s motion', () => {
  const contact = new ContactDirections(1);
  contact.touch(0, Float64Array.of(1, 0, 0), 0);
  const aside = Float64Array.of(0, 1, 0);
  contact.roll(ROLLS, aside, 0.01);
  assert.ok(Math.abs(dot(contact.away, aside) - Math.SQRT1_2) < 1e-9);
  contact.roll(ROLLS, aside, 0.02);
  assert.ok(dot(contact.away, aside) > 1 - 1e-9);
});

test('a contact that ended begins anew', () => {
  const contact = new ContactDirections(1);
  contact.touch(0, Float64Array.of(1, 0, 0), 0);
  contact.age();
  contact.age();
  contact.touch(0, Float64Array.of(0, 0, 1), 0);
  assert.deepEqual([...contact.away], [0, 0, 1]);
});
