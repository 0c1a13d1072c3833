import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface UdpSocket {
  port: number;
  /** Datagrams the kernel dropped because the receive buffer was full. */
  drops: number;
}

/** The IPv4 UDP sockets a process holds, in the order it opened them. Linux. */
export function udpSocketsOf(pid: number): UdpSocket[] {
  const known = systemSockets();
  const inodes = readdirSync(`/proc/${pid}/fd`)
    .map(Number)
    .sort((a, b) => a - b)
    .map((fd) => /^socket:\[(\d+)\]$/.exec(link(`/proc/${pid}/fd/${fd}`))?.[1]);
  return inodes.flatMap((inode) => known.get(inode ?? '') ?? []);
}

/** Processes whose command line contains all of these words. */
export function processesWith(...words: string[]): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    const args = read(`/proc/${pid}/cmdline`).split('\0');
    return words.every((word) => args.includes(word));
  });
}

function systemSockets(): Map<string, UdpSocket> {
  const rows = read('/proc/net/udp').trim().split('\n').slice(1);
  return new Map(
    rows.map((row) => {
      const columns = row.trim().split(/\s+/);
      const port = Number.parseInt(columns[1]!.split(':')[1]!, 16);
      return [columns[9]!, { port, drops: Number(columns[12]) }];
    }),
  );
}

/** Processes and descriptors may be gone by the time they are read. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function link(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}
