import { TYPES } from '../../src/wire/codecs/frame.ts';

/** A small fast generator; its seed determines the whole run. */
export function randomSource(seed: number): { next(): number; below(limit: number): number } {
  let state = seed >>> 0 || 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  return { next, below: (limit) => Math.floor(next() * limit) };
}

type Random = ReturnType<typeof randomSource>;
type Mutation = (bytes: Uint8Array, random: Random) => Uint8Array;

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const LETTERS = Object.values(TYPES);
const HOSTILE = [
  'null',
  'true',
  '""',
  '-1',
  '1e999',
  '-1e999',
  '9007199254740993',
  '1e-320',
  '{}',
  '[]',
  '[[[[[[[[1]]]]]]]]',
  '"NaN"',
  '0.1',
  '4294967296',
  '"\\u0000"',
  '[null,null,null,null,null,null]',
  '[1,2,3]',
  '[1e308,1e308,1e308,1e308,1e308,1e308]',
  '{"__proto__":{"state":"engaged"}}',
];

const flipBits: Mutation = (bytes, random) => {
  const out = bytes.slice();
  for (let n = 1 + random.below(4); n > 0 && out.length > 0; n--)
    out[random.below(out.length)]! ^= 1 << random.below(8);
  return out;
};

const truncate: Mutation = (bytes, random) => bytes.slice(0, random.below(bytes.length + 1));

const extend: Mutation = (bytes, random) => {
  const out = new Uint8Array(Math.min(1472, bytes.length + 1 + random.below(1200)));
  out.set(bytes);
  for (let i = bytes.length; i < out.length; i++) out[i] = random.below(256);
  return out;
};

const retag: Mutation = (bytes, random) => {
  const out = bytes.slice();
  if (out.length > 3) out[3] = LETTERS[random.below(LETTERS.length)]!;
  return out;
};

/** Replaces a value or a key at a random place of the JSON, keeping its shape. */
const rewriteJson: Mutation = (bytes, random) => {
  const text = decoder.decode(bytes.subarray(4));
  const values = [...text.matchAll(/:("(?:[^"\\]|\\.)*"|-?[\d.e+-]+|true|false|null|\[[^\]]*\])/g)];
  if (values.length === 0) return flipBits(bytes, random);
  const chosen = values[random.below(values.length)]!;
  const value = HOSTILE[random.below(HOSTILE.length)]!;
  const body = `${text.slice(0, chosen.index)}:${value}${text.slice(chosen.index + chosen[0].length)}`;
  const out = encoder.encode(`????${body}`).slice(0, 1472);
  out.set(bytes.subarray(0, 4));
  return out;
};

const noise: Mutation = (_bytes, random) => {
  const out = new Uint8Array(random.below(1473));
  for (let i = 0; i < out.length; i++) out[i] = random.below(256);
  return out;
};

const noiseBehindTag: Mutation = (bytes, random) => {
  const out = noise(bytes, random);
  out.set(bytes.subarray(0, Math.min(4, bytes.length, out.length)));
  return out;
};

const replay: Mutation = (bytes) => bytes;

const MUTATIONS: readonly Mutation[] = [
  flipBits,
  truncate,
  extend,
  retag,
  rewriteJson,
  rewriteJson,
  noise,
  noiseBehindTag,
  replay,
];

/** Endless hostile datagrams that know the protocol: mutated from real ones. */
export function* hostileDatagrams(corpus: readonly Uint8Array[], seed: number): Generator<Uint8Array> {
  const random = randomSource(seed);
  for (;;) {
    let bytes = corpus[random.below(corpus.length)]!;
    for (let n = 1 + random.below(3); n > 0; n--)
      bytes = MUTATIONS[random.below(MUTATIONS.length)]!(bytes, random);
    yield bytes;
  }
}
