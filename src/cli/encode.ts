import type { Given, Verb } from './arguments.ts';
import { linesOf } from './lines.ts';
import { PROTOCOLS, protocolNamed } from './protocols/protocol.ts';

export const encodeVerb: Verb = {
  name: 'encode',
  usage: 'PROTOCOL [JSON …]',
  about: 'Encodes JSON, one object per line, as hexadecimal datagrams of a foreign protocol.',
  details: `Accepts the output of \`farhand decode\`. Reads standard input unless objects are given as arguments. A line that
cannot be encoded gives {"ok":false,"reason":…} and exit code 1.
Protocols: ${Object.keys(PROTOCOLS).join(', ')}.`,
  examples: ['farhand encode rctp < hands.jsonl'],
  options: {},
  async run(given: Given) {
    const [name, ...words] = given.words;
    const protocol = protocolNamed(name);
    let code = 0;
    for await (const line of words.length > 0 ? words : linesOf('-')) {
      const encoded = protocol.encode(parsed(line));
      if (encoded instanceof Uint8Array) console.log(Buffer.from(encoded).toString('hex'));
      else {
        console.log(JSON.stringify(encoded));
        code = 1;
      }
    }
    return code;
  },
};

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
