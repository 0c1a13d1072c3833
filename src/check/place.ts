import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';

/** Where two ends are: one loopback, or two network namespaces joined by a cable of their own. */
export interface Place {
  name: string;
  /** Address of the receiving end. */
  host: string;
  /** Puts a command line into the sender's or receiver's namespace. */
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

/** What a process left that was killed in the middle: its number is in the name. */
function removeAbandoned(): void {
  const found = existsSync(NETNS) ? readdirSync(NETNS) : [];
  for (const name of found) {
    const pid = Number(/^fh-[rt]x-(\d+)$/.exec(name)?.[1]);
    if (pid > 0 && !existsSync(`/proc/${pid}`)) ip('netns', 'del', name);
  }
}

/** Two namespaces with a veth pair, gone again after `close`; or why there can be none. Needs root and iproute2. */
export function openNamespaces(): Place | string {
  const names = { tx: `fh-tx-${process.pid}`, rx: `fh-rx-${process.pid}` };
  const hosts = { tx: '10.99.7.1', rx: '10.99.7.2' };
  const close = () => {
    for (const name of Object.values(names)) {
      try {
        ip('netns', 'del', name);
      } catch {
        // Never made.
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
    return `no network namespaces here (root and iproute2 are needed): ${(error as Error).message.split('\n')[0]}`;
  }
  return {
    name: 'veth namespaces',
    host: hosts.rx,
    at: (side, command) => ['ip', 'netns', 'exec', names[side], ...command],
    close,
  };
}
