import { lookup } from 'node:dns/promises';
import { TeleopError } from '../../core/errors.ts';
import { hostOfText } from '../../core/ip-hosts.ts';
import type { SocketSpec } from '../reactor.ts';

/**
 * The address of a host name, or the address itself. A name with both kinds gives its IPv4 address, because a
 * robot listens on that unless told otherwise. `whose` and `setting` name it in the error.
 */
export async function resolveHost(name: string, whose: string, setting: string): Promise<string> {
  if (hostOfText(name, { zoneIndex: () => 0 }) !== null) return name;
  try {
    const found = await lookup(name, { all: true });
    return (found.find(({ family }) => family === 4) ?? found[0]!).address;
  } catch (cause) {
    throw new TeleopError('name-unresolved', `${whose} "${name}" has no address`, {
      hint: `Give a name this machine can resolve, or the address itself: ${setting}${setting.startsWith('--') ? ' ' : '='}192.168.1.20`,
      cause,
    });
  }
}

/** A listener with the address of its host name. An empty host stays, and is rejected when it is opened. */
export async function resolveSpec(spec: SocketSpec): Promise<SocketSpec> {
  if (spec.host === '') return spec;
  const setting = spec.portKey?.replace(/[^.]*$/, 'listenHost') ?? 'link.listenHost';
  return { ...spec, host: await resolveHost(spec.host, `the host of the ${spec.name} socket`, setting) };
}
