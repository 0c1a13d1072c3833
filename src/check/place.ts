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
    const pid = Number(/^fh-[rt]x-(\d+)-\d+$/.exec(name)?.[1]);
    if (pid > 0 && !existsSync(`/proc/${pid}`)) ip('netns', 'del', name);
  }
}

const HOSTS = { tx: '10.99.7.1', rx: '10.99.7.2' };
const DEVICE = 'fh0';

/** Namespace of the sender and of the receiver. */
export interface Namespaces {
  tx: string;
  rx: string;
}

/** Creates two namespaces with a veth pair, until `close`; or returns the reason for failure. Needs root, iproute2. */
export function openNamespaces(): Place | string {
  const peer = (rx: string) => ['peer', 'name', DEVICE, 'netns', rx];
  return inNamespaces('veth namespaces', ({ tx, rx }) =>
    ip('-n', tx, 'link', 'add', DEVICE, 'type', 'veth', ...peer(rx)),
  );
}

/** The same joined by two devices of this namespace, which it moves. */
export function openDeviceNamespaces(name: string, devices: readonly [string, string], mtu: number) {
  return inNamespaces(name, (names) => {
    [names.tx, names.rx].forEach((to, i) => {
      ip('link', 'set', devices[i]!, 'netns', to);
      ip('-n', to, 'link', 'set', devices[i]!, 'name', DEVICE, 'mtu', String(mtu));
    });
  });
}

let opened = 0;

/** `join` gives each namespace a device named DEVICE. */
function inNamespaces(name: string, join: (names: Namespaces) => void): Place | string {
  const own = `${process.pid}-${opened++}`;
  const names = { tx: `fh-tx-${own}`, rx: `fh-rx-${own}` };
  const close = () => {
    for (const each of Object.values(names)) {
      try {
        ip('netns', 'del', each);
      } catch {
        // It was never created.
      }
    }
  };
  try {
    removeAbandoned();
    ip('netns', 'add', names.tx);
    ip('netns', 'add', names.rx);
    join(names);
    for (const side of ['tx', 'rx'] as const) {
      ip('-n', names[side], 'address', 'add', `${HOSTS[side]}/24`, 'dev', DEVICE);
      ip('-n', names[side], 'link', 'set', DEVICE, 'up');
      ip('-n', names[side], 'link', 'set', 'lo', 'up');
    }
  } catch (error) {
    close();
    return `cannot create network namespaces (needs root and iproute2): ${(error as Error).message.split('\n')[0]}`;
  }
  return {
    name,
    host: HOSTS.rx,
    at: (side, command) => ['ip', 'netns', 'exec', names[side], ...command],
    close,
  };
}
