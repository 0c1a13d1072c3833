import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { encodeReverseFrame, REVERSE_FRAME_BYTES } from './reverse-frame.ts';
import {
  dataPackage,
  decodeReply,
  encodeControlVersionRequest,
  encodeSetupInputs,
  encodeSetupOutputs,
  encodeStart,
  encodeVersionRequest,
  RTDE_TYPE_BYTES,
  RTDE_VALUES_AT,
  recipeLayout,
} from './rtde-codec.ts';

interface Vector {
  device: string;
  name: string;
  input: Record<string, unknown>;
  expected_hex: string;
}
interface FrameInput {
  timeout_ms: number;
  q?: number[];
  qd?: number[];
  mode: number;
}
const vectors = JSON.parse(readFileSync('test/data/driver-vectors/ur.json', 'utf8')) as Vector[];
const bytesOf = ({ expected_hex }: Vector): Buffer => Buffer.from(expected_hex.replaceAll(' ', ''), 'hex');
const vector = (name: string): Vector => vectors.find((entry) => entry.name === name)!;
const names = (name: string): string[] => (vector(name).input['vars'] as string).split(',');

describe('RTDE messages', () => {
  it('match the vectors byte for byte', () => {
    const own: Record<string, Buffer> = {
      request_protocol_version_2: encodeVersionRequest(2),
      get_urcontrol_version: encodeControlVersionRequest(),
      setup_outputs_125Hz: encodeSetupOutputs(125, names('setup_outputs_125Hz')),
      setup_inputs: encodeSetupInputs(names('setup_inputs')),
      start: encodeStart(),
    };
    for (const [name, bytes] of Object.entries(own))
      assert.equal(bytes.toString('hex'), bytesOf(vector(name)).toString('hex'), name);
  });

  it('from a controller decode as in the vectors', () => {
    const read = (name: string) => decodeReply(bytesOf(vector(name)));
    assert.deepEqual(read('reply_protocol_accepted'), { type: 'version', accepted: true });
    assert.deepEqual(read('reply_start_ok'), { type: 'start', accepted: true });
    assert.deepEqual(read('reply_version_5.12.2.1101534'), {
      type: 'controlVersion',
      ...vector('reply_version_5.12.2.1101534').input,
    });
    const types = (vector('reply_setup_outputs').input['types'] as string).split(',');
    assert.deepEqual(read('reply_setup_outputs'), { type: 'outputs', recipe: 1, types });
  });

  it('with data have their values at the recipe’s offsets', () => {
    const outputs = vector('data_outputs_recipe1');
    const bytes = bytesOf(outputs);
    const layout = recipeLayout(['DOUBLE', 'VECTOR6D', 'VECTOR6D', 'INT32', 'INT32', 'UINT32'])!;
    assert.equal(layout.bytes, bytes.length);
    assert.equal(bytes.readDoubleBE(layout.offsets[0]), outputs.input['timestamp']);
    const q = outputs.input['q'] as number[];
    q.forEach((rad, i) => {
      assert.equal(bytes.readDoubleBE(layout.offsets[1]! + 8 * i), rad);
    });
    assert.equal(bytes.readInt32BE(layout.offsets[3]), outputs.input['robot_mode']);
    const inputs = vector('data_inputs_recipe1');
    const own = dataPackage(1, bytesOf(inputs).length - RTDE_VALUES_AT);
    own.writeInt32BE(7, RTDE_VALUES_AT);
    q.forEach((rad, i) => {
      own.writeDoubleBE(rad, RTDE_VALUES_AT + 4 + 8 * i);
    });
    assert.equal(own.toString('hex'), bytesOf(inputs).toString('hex'));
  });

  it('with an unknown type have no layout', () => {
    for (const type of ['NOT_FOUND', 'IN_USE', '', 'toString']) assert.equal(recipeLayout([type]), null);
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...Object.keys(RTDE_TYPE_BYTES))), (types) => {
        const bytes = types.reduce((sum, type) => sum + RTDE_TYPE_BYTES[type]!, RTDE_VALUES_AT);
        assert.equal(recipeLayout(types)!.bytes, bytes);
      }),
    );
  });

  it('never make the decoder throw, mutated or random', () => {
    const mutated = fc
      .tuple(fc.constantFrom(...vectors.map(bytesOf)), fc.nat(), fc.nat(255), fc.nat(200))
      .map(([bytes, at, value, length]) => {
        const copy = Buffer.from(bytes);
        copy[at % copy.length] = value;
        return copy.subarray(0, length);
      });
    fc.assert(
      fc.property(fc.oneof(mutated, fc.uint8Array({ maxLength: 300 }).map(Buffer.from)), (bytes) => {
        decodeReply(bytes);
      }),
      { numRuns: 2000 },
    );
  });

  it('of text are decoded', () => {
    const part = (text: string) => Buffer.concat([Buffer.of(text.length), Buffer.from(text)]);
    const payload = Buffer.concat([part('watch out'), part('RTDE'), Buffer.of(2)]);
    const bytes = Buffer.concat([Buffer.of(0, 3 + payload.length, 0x4d), payload]);
    assert.deepEqual(decodeReply(bytes), { type: 'text', text: 'watch out', source: 'RTDE', level: 2 });
  });
});

describe('setpoint frames', () => {
  it('match the vectors byte for byte', () => {
    for (const entry of vectors.filter(({ device }) => device === 'ur_reverse_interface')) {
      const { timeout_ms: timeoutMs, q, qd, mode } = entry.input as unknown as FrameInput;
      const frame = Buffer.alloc(REVERSE_FRAME_BYTES, 0xff);
      const values = q ?? qd;
      encodeReverseFrame(frame, timeoutMs, values === undefined ? null : Float64Array.from(values), mode);
      assert.equal(frame.toString('hex'), bytesOf(entry).toString('hex'), entry.name);
    }
  });

  it('round-trip to half a microradian', () => {
    const angles = fc.float64Array({ minLength: 6, maxLength: 6, min: -7, max: 7, noNaN: true });
    fc.assert(
      fc.property(
        angles,
        fc.integer({ min: 0, max: 1000 }),
        fc.integer({ min: -2, max: 8 }),
        (q, ms, mode) => {
          const frame = Buffer.alloc(REVERSE_FRAME_BYTES);
          encodeReverseFrame(frame, ms, q, mode);
          assert.equal(frame.readInt32BE(0), ms);
          assert.equal(frame.readInt32BE(28), mode);
          q.forEach((rad, i) => {
            assert.ok(Math.abs(frame.readInt32BE(4 + 4 * i) / 1e6 - rad) <= 0.5e-6 + 1e-12);
          });
        },
      ),
    );
  });

  it('never make the encoder throw, for any values', () => {
    const wild = fc.float64Array({ minLength: 6, maxLength: 6 });
    fc.assert(fc.property(wild, (q) => encodeReverseFrame(Buffer.alloc(REVERSE_FRAME_BYTES), 100, q, 1)));
  });
});
