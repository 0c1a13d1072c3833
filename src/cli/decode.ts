import type { Given, Verb } from './arguments.ts';
import { linesOf } from './lines.ts';
import { PROTOCOLS, protocolNamed } from './protocols/protocol.ts';

export const decodeVerb: Verb = {
  name: 'decode',
  usage: 'PROTOCOL [HEX …]',
  about: 'Decodes datagrams of a foreign protocol, one hexadecimal line each, into JSON.',
  details: `Reads standard input unless datagrams are given as arguments. Each line in gives one line out: {"ok":true,…}
or {"ok":false,"reason":…}. Protocols: ${Object.keys(PROTOCOLS).join(', ')}.`,
  examples: ['farhand decode rctp < packets.txt'],
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

/** Spaces and colons between bytes are allowed. */
function hexBytes(text: string): Uint8Array | null {
  const digits = text.replace(/[\s:]/g, '').replace(/^0x/i, '');
  if (digits.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(digits)) return null;
  return Uint8Array.from(Buffer.from(digits, 'hex'));
}
