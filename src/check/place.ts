import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';

/** Where the two ends run: on loopback, or in two network namespaces joined by a virtual cable. */
export interface Place {
  name: string;
  /** Address of the receiving end. */
  host: string;
  /** The command line that runs a command in the sender's or receiver's namespace. */
  at(side: 'tx' | 'rx', command: string[]): string[];
  close(): void;
}

export const loopback: Place = {
  name: 'loopback',
  host: '127.0.0.1',
  at: (_side, command) => command,
  close: () => {},
};

const NETNS = '/run/netns';

const ip = (...args: string[]): void => {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
};

/** Removes the namespaces of processes that were killed; the name contains the process id. */
function removeAbandoned(): void {
  const found = existsSync(NETNS) ? readdirSync(NETNS) : [];
  for (const name of found) {
    const pid = Number(/^fh-[rt]x-(\d+)$/.exec(name)?.[1]);
    if (pid > 0 && !existsSync(`/proc/${pid}`)) ip('netns', 'del', name);
  }
}

/** Creates two namespaces with a veth pair, until `close`; or returns the reason for failure. Needs root, iproute2. */
export function openNamespaces(): Place | string {
  const names = { tx: `fh-tx-${process.pid}`, rx: `fh-rx-${process.pid}` };
  const hosts = { tx: '10.99.7.1', rx: '10.99.7.2' };
  const close = () => {
    for (const name of Object.values(names)) {
      try {
        ip('netns', 'del', name);
      } catch {
        // It was never created.
      }
    }
  };
  try {
    removeAbandoned();
    ip('netns', 'add', names.tx);
    ip('netns', 'add', names.rx);
    ip('-n', names.tx, 'link', 'add', 'fh0', 'type', 'veth', 'peer', 'name', 'fh0', 'netns', names.rx);
    for (const side of ['tx', 'rx'] as const) {
      ip('-n', names[side], 'address', 'add', `${hosts[side]}/24`, 'dev', 'fh0');
      ip('-n', names[side], 'link', 'set', 'fh0', 'up');
      ip('-n', names[side], 'link', 'set', 'lo', 'up');
    }
  } catch (error) {
    close();
    return `cannot create network namespaces (needs root and iproute2): ${(error as Error).message.split('\n')[0]}`;
  }
  return {
    name: 'veth namespaces',
    host: hosts.rx,
    at: (side, command) => ['ip', 'netns', 'exec', names[side], ...command],
    close,
  };
}
