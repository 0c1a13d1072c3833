import { TeleopError } from '../core/errors.ts';
import { resolveHost } from '../wire/transports/resolve-host.ts';

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

export const resolved = (host: string): Promise<string> => resolveHost(host, 'the host', '--host');
