import type { randomSource } from './datagrams.ts';

type Random = ReturnType<typeof randomSource>;

/** Replacement values that break a handler which trusts its input. */
const HOSTILE: readonly string[] = [
  ...['{"toString":1,"valueOf":1}', '{"toString":null}', '{"length":3,"0":1}', '{"then":{"then":1}}', '{}'],
  ...['[]', '[[]]', '[null,null,null]', '[{"toString":1,"valueOf":1}]', 'null', 'true', 'false', '""', '"x"'],
  ...['{"__proto__":{"kind":"estop","role":"operator"}}', '{"constructor":{"prototype":{"polluted":1}}}'],
  ...['"__proto__"', '"constructor"', '"toString"', '"hasOwnProperty"', '"NaN"', '"Infinity"', '"1e999"'],
  ...[
    '0',
    '-0',
    '-1',
    '0.1',
    '1e308',
    '-1e308',
    '1e999',
    '-1e999',
    '1e-320',
    '9007199254740993',
    '4294967296',
  ],
  ...['"\\u0000"', '"\\ud800"', '"\\n\\r\\u2028"', '"../../etc/passwd"', '"123456"', '"operator"'],
];
const HOSTILE_KEYS = ['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'kind', 'length', ''];
/** Used rarely, because they are slow. */
const HEAVY: readonly string[] = [
  '['.repeat(400) + ']'.repeat(400),
  `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`,
  '['.repeat(900),
  `[${'0,'.repeat(400)}0]`,
  `"${'a'.repeat(1000)}"`,
];

/** Where the values of a JSON text start and end, nested ones included, and where its objects start. */
interface Spans {
  text: string;
  values: [from: number, to: number][];
  objects: number[];
}

function spansOf(text: string): Spans {
  const spans: Spans = { text, values: [], objects: [] };
  let at = 0;
  const string = () => {
    for (at++; text[at] !== '"'; at++) if (text[at] === '\\') at++;
    at++;
  };
  const value = () => {
    const from = at;
    if (text[at] === '{') {
      spans.objects.push(++at);
      while (text[at] !== '}') {
        if (text[at] === ',') at++;
        string();
        at++;
        value();
      }
      at++;
    } else if (text[at] === '[') {
      at++;
      while (text[at] !== ']') {
        if (text[at] === ',') at++;
        value();
      }
      at++;
    } else if (text[at] === '"') string();
    else while (at < text.length && !',]}'.includes(text[at]!)) at++;
    spans.values.push([from, at]);
  };
  value();
  return spans;
}

const anyOf = <T>(list: readonly T[], random: Random): T => list[random.below(list.length)]!;
const hostile = (random: Random): string => anyOf(random.below(64) === 0 ? HEAVY : HOSTILE, random);

function replaceValue({ text, values }: Spans, random: Random): string {
  const [from, to] = anyOf(values, random);
  return text.slice(0, from) + hostile(random) + text.slice(to);
}

/** An extra key: one with a meaning in the language, or a duplicate. */
function addKey({ text, objects }: Spans, random: Random): string {
  if (objects.length === 0) return hostile(random);
  const at = anyOf(objects, random);
  const comma = text[at] === '}' ? '' : ',';
  return `${text.slice(0, at)}"${anyOf(HOSTILE_KEYS, random)}":${hostile(random)}${comma}${text.slice(at)}`;
}

const truncate = ({ text }: Spans, random: Random): string => text.slice(0, random.below(text.length));

function flip({ text }: Spans, random: Random): string {
  const at = random.below(text.length);
  return text.slice(0, at) + String.fromCharCode(random.below(128)) + text.slice(at + 1);
}

const MUTATIONS = [replaceValue, replaceValue, replaceValue, addKey, truncate, flip] as const;

/** Endless hostile texts, mutated from valid ones so that they get deep into their parsers. */
export function* hostileTexts(examples: readonly object[], random: Random): Generator<string> {
  const spans = examples.map((example) => spansOf(JSON.stringify(example)));
  for (;;) {
    const chosen = anyOf(spans, random);
    const round = random.below(32);
    if (round === 0) yield chosen.text;
    else if (round === 1) yield hostile(random);
    else yield anyOf(MUTATIONS, random)(chosen, random);
  }
}

/** The same as bytes, occasionally invalid UTF-8. */
export function toBytes(text: string, random: Random): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length > 0 && random.below(32) === 0)
    bytes[random.below(bytes.length)] = 0x80 + random.below(128);
  return bytes;
}
