import { lookup } from 'node:dns/promises';
import { TeleopError } from '../core/errors.ts';

export function windowOf(
  text: string | boolean | undefined,
  option = 'lose-tracking',
): readonly [number, number] {
  if (text === undefined) return [0, 0];
  const found = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(String(text));
  if (found !== null && Number(found[2]) > Number(found[1])) return [Number(found[1]), Number(found[2])];
  throw new TeleopError('bad-option', `--${option} ${text} is not a range of seconds`, {
    hint: `For example, --${option} 2-3.5.`,
  });
}

export async function resolved(host: string): Promise<string> {
  try {
    return (await lookup(host, { family: 4 })).address;
  } catch (cause) {
    throw new TeleopError('name-unresolved', `"${host}" has no IPv4 address`, {
      hint: 'Give a name that this machine can resolve, or an address: --host 192.168.1.20',
      cause,
    });
  }
}
