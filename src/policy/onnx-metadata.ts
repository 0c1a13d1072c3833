import { z } from 'zod';
import { TeleopError } from '../core/errors.ts';
import { parseJson } from '../core/parse-json.ts';

/** Field numbers of ONNX's ModelProto and StringStringEntryProto (onnx.proto3). */
const METADATA_PROPS = 14;
const KEY = 1;
const VALUE = 2;
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;
const MAX_JSON_BYTES = 64 * 1024;

/** Key of our entry among the model's properties. */
const OWN_KEY = 'farhand';

const schema = z.object({
  fps: z.number().min(1).max(240),
  rows: z.int().min(1).max(1000),
  joints: z.array(z.string()).min(1).max(64),
  gripper: z.boolean(),
  cameras: z.array(z.string()).max(8),
  widthPx: z.int().min(8).max(2048),
  heightPx: z.int().min(8).max(2048),
  task: z.string(),
  /** The only meaning this program knows: row 0 is for the instant of the observation. */
  row0: z.literal('observation'),
});
export type OnnxFacts = z.infer<typeof schema>;

/** What a model says about itself in its property `farhand`. */
export function onnxFacts(bytes: Uint8Array, file: string): OnnxFacts {
  const json = metadataProps(bytes).get(OWN_KEY);
  const facts = json === undefined ? 'absent' : parseJson(json, schema, MAX_JSON_BYTES);
  if (typeof facts !== 'string') return facts;
  throw new TeleopError(
    'bad-config',
    `${file} does not describe a policy: its property "farhand" is ${facts}`,
    {
      hint: 'Export it with examples/policy-small/train.py, or add the property as docs/policies.md describes.',
    },
  );
}

/** `metadata_props` of an ONNX file; empty for anything that is not one. */
function metadataProps(bytes: Uint8Array): Map<string, string> {
  const found = new Map<string, string>();
  for (const [field, value] of fields(bytes)) {
    if (field !== METADATA_PROPS) continue;
    const entry = new Map(fields(value));
    const text = (part: number) => new TextDecoder().decode(entry.get(part) ?? new Uint8Array(0));
    found.set(text(KEY), text(VALUE));
  }
  return found;
}

/** Length-delimited fields of a protobuf message; ends at the first malformed byte. */
function* fields(bytes: Uint8Array): Generator<[number, Uint8Array]> {
  let at = 0;
  const varint = (): number => {
    let [value, scale] = [0, 1];
    for (; at < bytes.length; scale *= 128) {
      const byte = bytes[at++]!;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    return Number.NaN;
  };
  while (at < bytes.length) {
    const tag = varint();
    const [field, kind] = [Math.floor(tag / 8), tag % 8];
    if (kind === VARINT) varint();
    else if (kind === FIXED64) at += 8;
    else if (kind === FIXED32) at += 4;
    else if (kind === BYTES) {
      const length = varint();
      if (!(at + length <= bytes.length)) return;
      yield [field, bytes.subarray(at, at + length)];
      at += length;
    } else return;
  }
}
