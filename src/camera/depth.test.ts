import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inflateSync } from 'node:zlib';
import fc from 'fast-check';
import { parseFrame } from './channel/zmq-receiver.ts';
import { depthPng, greyOf, isDepthPng, thirdOfDepth } from './depth.ts';

/** A PNG reader of its own: 16-bit grey, rows as differences from the row above. */
function read(png: Uint8Array): { widthPx: number; heightPx: number; values: number[] } {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  const [widthPx, heightPx] = [view.getUint32(16), view.getUint32(20)];
  const data: Uint8Array[] = [];
  for (let at = 8; at < png.length; at += view.getUint32(at) + 12)
    if (String.fromCharCode(...png.subarray(at + 4, at + 8)) === 'IDAT')
      data.push(png.subarray(at + 8, at + 8 + view.getUint32(at)));
  const rows = inflateSync(Buffer.concat(data));
  const values: number[] = [];
  for (let row = 0; row < heightPx; row++)
    for (let column = 0; column < widthPx; column++) {
      const at = row * (1 + 2 * widthPx) + 1 + 2 * column;
      const above = row === 0 ? 0 : values[values.length - widthPx]!;
      const high = (rows[at]! + (above >> 8)) & 0xff;
      values.push(high * 256 + ((rows[at + 1]! + (above & 0xff)) & 0xff));
    }
  return { widthPx, heightPx, values };
}

const picture = fc
  .tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }))
  .chain(([widthPx, heightPx]) =>
    fc
      .array(fc.integer({ min: 0, max: 65_535 }), {
        minLength: widthPx * heightPx,
        maxLength: widthPx * heightPx,
      })
      .map((values) => ({ widthPx, heightPx, depthMm: Uint16Array.from(values) })),
  );

describe('a depth picture', () => {
  it('keeps every distance', () => {
    fc.assert(
      fc.property(picture, ({ widthPx, heightPx, depthMm }) => {
        const png = depthPng({ widthPx, heightPx, depthMm });
        assert.ok(isDepthPng(png));
        assert.deepEqual(read(png), { widthPx, heightPx, values: [...depthMm] });
      }),
    );
  });

  it('is seen brighter the nearer it is, and black where nothing was measured', () => {
    assert.deepEqual(
      [0, 1, 1000, 2000, 60_000].map((mm) => greyOf(mm, 2000)),
      [0, 255, 128, 1, 1],
    );
  });

  it('is made smaller without distances that nothing has', () => {
    const depthMm = Uint16Array.from({ length: 81 }, (_, i) => (i % 2 === 0 ? 300 : 1500));
    const { depthMm: third } = thirdOfDepth({ kind: 'depth', depthMm, widthPx: 9, heightPx: 9, farMm: 2000 });
    assert.equal(third.length, 9);
    assert.ok(third.every((mm) => mm === 300 || mm === 1500));
  });

  it('crosses the channel beside the view of it, and anything else there is ignored', () => {
    const text = (value: string) => Buffer.from(value, 'latin1');
    const jpeg = Uint8Array.of(0xff, 0xd8, 0xff, 0xd9);
    const png = depthPng({ widthPx: 2, heightPx: 1, depthMm: Uint16Array.of(1, 2) });
    const frame = (sixth: Uint8Array) =>
      parseFrame([text('front'), text('5'), text('jpeg'), jpeg, text('6'), sixth], ['front'], 9);
    assert.deepEqual(Object(frame(png)).depth, png);
    for (const other of [new Uint8Array(0), png.subarray(0, 20), jpeg, png.map((byte) => byte ^ 1)])
      assert.equal('depth' in Object(frame(other)), false);
  });
});
