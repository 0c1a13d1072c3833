import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { SnapshotBoard } from './snapshot.ts';
import { StructBoard } from './struct-board.ts';
import { flag, number, numbers, oneOf, perJoint, struct } from './struct-layout.ts';

const ACCESSES = 20_000;
const COLOURS = ['red', 'green'] as const;
const LAYOUT = struct({
  first: number,
  anglesRad: perJoint,
  isOpen: flag,
  positionM: numbers(3),
  colour: oneOf(COLOURS, null),
  last: number,
});

describe('struct layout', () => {
  it('reads back what was written, for any values and any number of joints', () => {
    const any = fc.double();
    fc.assert(
      fc.property(
        fc.array(any, { maxLength: 8 }),
        fc.tuple(any, any, any),
        fc.record({ first: any, last: any, isOpen: fc.boolean(), colour: fc.constantFrom(...COLOURS, null) }),
        (anglesRad, positionM, scalars) => {
          const view = LAYOUT.create(anglesRad.length);
          Object.assign(view, scalars);
          view.anglesRad.set(anglesRad);
          view.positionM.set(positionM);
          const other = LAYOUT.create(anglesRad.length);
          other.packed.set(view.packed);
          view.packed.fill(-1);
          const arrays = { anglesRad: Float64Array.from(anglesRad), positionM: Float64Array.from(positionM) };
          assert.deepEqual(LAYOUT.plain(other), { ...scalars, ...arrays });
        },
      ),
    );
  });

  it('has scalars in order of declaration, then arrays in theirs', () => {
    const view = LAYOUT.create(2);
    Object.assign(view, { first: 1, isOpen: true, colour: 'green', last: 4 });
    view.anglesRad.set([5, 6]);
    view.positionM.set([7, 8, 9]);
    assert.deepEqual([...view.packed], [1, 1, 1, 4, 5, 6, 7, 8, 9]);
    assert.deepEqual(LAYOUT.names, ['first', 'isOpen', 'colour', 'last']);
    assert.deepEqual([LAYOUT.size(2), LAYOUT.size()], [9, 7]);
  });

  it('reads an index outside the list as the declared fallback', () => {
    const view = LAYOUT.create();
    for (const code of [-1, 2, 0.5, Number.NaN]) {
      view.packed[2] = code;
      assert.equal(view.colour, null);
    }
  });

  it('views the given memory', () => {
    const shared = new Float64Array(new SharedArrayBuffer(8 * LAYOUT.size(1)));
    LAYOUT.create(1, shared).anglesRad[0] = 0.5;
    assert.equal(LAYOUT.create(1, shared).anglesRad[0], 0.5);
    assert.throws(() => Object.assign(LAYOUT.create(1), { anglesRad: new Float64Array(1) }), TypeError);
  });
});

describe('an access to a struct', () => {
  it('leaves no garbage', () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const view = LAYOUT.create(1);
    let sum = 0;
    const access = (i: number) => {
      view.first = i + 0.5;
      view.isOpen = i % 2 === 0;
      view.colour = COLOURS[i % 2]!;
      view.last = view.first * 2;
      sum += view.colour === 'red' && view.isOpen ? view.last : 1;
    };
    let leastBytes = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 20 && leastBytes >= 1; round++) {
      collectGarbage();
      const before = process.memoryUsage().heapUsed;
      for (let i = 0; i < ACCESSES; i++) access(i);
      leastBytes = Math.min(leastBytes, Math.abs(process.memoryUsage().heapUsed - before) / ACCESSES);
    }
    assert.ok(leastBytes < 1, `${leastBytes} bytes per access`);
    assert.ok(sum > 0);
  });
});

describe('struct board', () => {
  it('passes on the newest value and text', () => {
    const { buffer } = SnapshotBoard.create(LAYOUT.size(1));
    const writer = new StructBoard(buffer, LAYOUT.create(1));
    const reader = new StructBoard(buffer, LAYOUT.create(1));
    assert.equal(reader.read(), false);
    writer.value.colour = 'green';
    writer.write('why');
    writer.value.colour = 'red';
    assert.deepEqual([reader.read(), reader.value.colour, reader.text], [true, 'green', 'why']);
  });

  it('keeps the last complete value when the writer died during a write', () => {
    const { buffer } = SnapshotBoard.create(LAYOUT.size());
    const writer = new StructBoard(buffer, LAYOUT.create());
    const reader = new StructBoard(buffer, LAYOUT.create());
    writer.value.first = 1;
    writer.write('whole');
    assert.ok(reader.read());
    writer.value.first = 2;
    writer.write('torn');
    Atomics.add(new Int32Array(buffer), 0, 1);
    assert.deepEqual([reader.read(), reader.value.first, reader.text], [false, 1, 'whole']);
  });
});
