/** ONNX files of one node, for tests of what a model does wrong: field numbers of onnx.proto3. */

type Value = readonly [name: string, type: number, shape: readonly number[]];
const FLOAT = 1;
const INT64 = 7;

function varint(value: number): number[] {
  const out: number[] = [];
  for (let left = value; ; left = Math.floor(left / 128)) {
    if (left < 128) return [...out, left];
    out.push((left % 128) | 128);
  }
}

const number = (field: number, value: number): Buffer =>
  Buffer.from([...varint(8 * field), ...varint(value)]);

function bytes(field: number, value: Buffer | string): Buffer {
  const data = Buffer.from(value);
  return Buffer.concat([Buffer.from([...varint(8 * field + 2), ...varint(data.length)]), data]);
}

function valueInfo([name, type, shape]: Value): Buffer {
  const dims = shape.map((length) => bytes(1, number(1, length)));
  const tensor = Buffer.concat([number(1, type), bytes(2, Buffer.concat(dims))]);
  return Buffer.concat([bytes(1, name), bytes(2, bytes(1, tensor))]);
}

/** `operator` applied to the input `state` [1, 7] is the output `name`; `facts` is what the file says about itself. */
export function tinyOnnx(
  operator: 'Identity' | 'Shape' | 'Transpose',
  facts: object,
  name = 'actions',
): Buffer {
  const shapes = { Identity: [1, 7], Shape: [2], Transpose: [7, 1] };
  const node = Buffer.concat([bytes(1, 'state'), bytes(2, name), bytes(4, operator)]);
  const output: Value = [name, operator === 'Shape' ? INT64 : FLOAT, shapes[operator]];
  const graph = Buffer.concat([
    bytes(1, node),
    bytes(2, 'tiny'),
    bytes(11, valueInfo(['state', FLOAT, [1, 7]])),
    bytes(12, valueInfo(output)),
  ]);
  const property = Buffer.concat([bytes(1, 'farhand'), bytes(2, JSON.stringify(facts))]);
  // Its description comes first, so that a file that was cut still has it.
  return Buffer.concat([number(1, 8), bytes(14, property), bytes(8, number(2, 13)), bytes(7, graph)]);
}
