import { hostname } from 'node:os';
import { isLoopback } from '../core/loopback.ts';
import type { RoleReady } from '../messages/role-report.ts';
import type { Rig } from '../rig/rig.ts';
import { type Announcement, announceRobot } from '../wire/discovery/multicast.ts';
import { ownAddresses } from '../wire/discovery/own-addresses.ts';

/** Announces a robot where the rig asks for it. What cannot be announced still runs. */
export async function announce(
  { link }: Rig,
  info: RoleReady,
  print: (line: unknown, text: string) => void,
): Promise<Announcement | null> {
  if (link.announce === '') return null;
  const skip = (why: string) => {
    console.error(`farhand: not announced as "${link.announce}": ${why}`);
    return null;
  };
  if (isLoopback(link.listenHost))
    return skip('it listens on this machine only; link.listenHost=0.0.0.0 opens it to the network');
  if (link.transport !== 'udp')
    return skip(`robots are announced for link.transport=udp, not ${link.transport}`);
  const [commandPort = 0, statePort = 0, syncPort = 0] = info.ports;
  const host = hostname().split('.')[0]!.slice(0, 63);
  const addresses = ownAddresses(link.listenHost);
  try {
    const facts = { name: link.announce, host, addresses, commandPort, statePort, syncPort };
    const open = await announceRobot(facts);
    print({ kind: 'announced', name: open.name }, `  announced as "${open.name}" (farhand discover)`);
    return open;
  } catch (error) {
    return skip(String(error));
  }
}
