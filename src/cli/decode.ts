import type { Given, Verb } from './arguments.ts';
import { linesOf } from './lines.ts';
import { PROTOCOLS, protocolNamed } from './protocols/protocol.ts';

export const decodeVerb: Verb = {
  name: 'decode',
  usage: 'PROTOCOL [HEX …]',
  about: 'Turns datagrams of a foreign protocol, one in hexadecimal per line, into JSON.',
  details: `Reads the lines from standard input unless they are given. One line out per line in: {"ok":true,…} or
{"ok":false,"reason":…}. Protocols: ${Object.keys(PROTOCOLS).join(', ')}.`,
  options: {},
  async run(given: Given) {
    const [name, ...words] = given.words;
    const protocol = protocolNamed(name);
    for await (const line of words.length > 0 ? words : linesOf('-')) {
      const bytes = hexBytes(line);
      const decoded = bytes === null ? { ok: false, reason: 'not-hexadecimal' } : protocol.decode(bytes);
      console.log(JSON.stringify(decoded));
    }
    return 0;
  },
};

/** Spaces and colons between bytes are welcome. */
function hexBytes(text: string): Uint8Array | null {
  const digits = text.replace(/[\s:]/g, '').replace(/^0x/i, '');
  if (digits.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(digits)) return null;
  return Uint8Array.from(Buffer.from(digits, 'hex'));
}
