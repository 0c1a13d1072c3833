import { lookup } from 'node:dns/promises';
import { TeleopError } from '../../core/errors.ts';

/** The address of a host name; IPv4 where it has both kinds. */
export async function addressOf(host: string, setting: string): Promise<string> {
  try {
    const found = await lookup(host, { all: true });
    return (found.find(({ family }) => family === 4) ?? found[0]!).address;
  } catch (cause) {
    throw new TeleopError('name-unresolved', `the camera host "${host}" has no address`, {
      hint: `Give a name this machine can resolve, or the address itself: ${setting}=192.168.1.20`,
      cause,
    });
  }
}

export const udpType = (address: string): 'udp4' | 'udp6' => (address.includes(':') ? 'udp6' : 'udp4');
