import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Place } from '../../src/check/place.ts';
import { type Percentiles, percentiles } from '../../src/core/statistics/percentiles.ts';
import { packageRoot } from '../../src/files/package-root.ts';
import { interruption } from '../interrupt.ts';

export const KINDS = ['native', 'sealed', 'dgram', 'zeromq', 'python udp', 'python zmq'] as const;
export type Kind = (typeof KINDS)[number];

export interface OneWay {
  kind: Kind;
  hz: number;
  place: string;
  sent: number;
  lost: number;
  /** Passed to the socket → message in the receiving program. Microseconds. */
  oneWayUs: Percentiles | null;
  /** Kernel's receive stamp → program. */
  kernelToProgramUs: Percentiles | null;
  /** How late the sender's tick was. */
  tickLateUs: Percentiles | null;
}

const ENDPOINT = path.join(packageRoot, 'dist', 'bench', 'wire', 'endpoint.js');
const PAIR = path.join(packageRoot, 'bench', 'peers', 'pair.py');
const PYTHON = process.env['PYTHON'] ?? 'python3';
const WARM_UP_S = 1;

type Stamp = [seq: number, first: number, second: number | null];

export async function measureOneWay(kind: Kind, hz: number, seconds: number, place: Place): Promise<OneWay> {
  const count = Math.round(hz * (seconds + WARM_UP_S));
  const python = kind.startsWith('python') ? kind.slice('python '.length) : null;
  const command = (side: 'rx' | 'tx', port: string) =>
    python === null
      ? [process.execPath, ENDPOINT, side, kind, place.host, port, String(count), String(hz)]
      : [
          PYTHON,
          PAIR,
          ...(side === 'rx'
            ? ['sub', python, String(count)]
            : ['pub', python, port, String(count), String(hz)]),
        ];
  const receiver = start(place.at('rx', command('rx', '0')), place.host);
  const receivedLines = lines(receiver);
  const port = (await receivedLines.next()).value ?? '';
  const sender = start(place.at('tx', command('tx', port)), place.host);
  const sentText = (await lines(sender).next()).value ?? '[]';
  const receivedText = (await receivedLines.next()).value ?? '[]';
  interruption.throwIfAborted();
  const sent = JSON.parse(sentText) as Stamp[] | { stamps: Stamp[] };
  return judge(
    kind,
    hz,
    place.name,
    Array.isArray(sent) ? sent : sent.stamps,
    JSON.parse(receivedText) as Stamp[],
  );
}

function judge(kind: Kind, hz: number, place: string, allSent: Stamp[], received: Stamp[]): OneWay {
  const arrivals = new Map(received.map((row) => [row[0], row]));
  const sent = allSent.slice(Math.round(WARM_UP_S * hz));
  const oneWay: number[] = [];
  const gap: number[] = [];
  for (const [seq, , sentNs] of sent) {
    const arrival = arrivals.get(seq);
    if (arrival === undefined || sentNs === null) continue;
    oneWay.push((arrival[1] - sentNs) / 1000);
    // Python's third stamp is the parsed message, not the kernel's.
    if (arrival[2] !== null && !kind.startsWith('python')) gap.push((arrival[1] - arrival[2]) / 1000);
  }
  const ticks = kind.startsWith('python')
    ? []
    : sent.map(([, dueNs, sentNs]) => ((sentNs ?? dueNs) - dueNs) / 1000);
  return {
    kind,
    hz,
    place,
    sent: sent.length,
    lost: sent.length - oneWay.length,
    oneWayUs: percentiles(oneWay),
    kernelToProgramUs: percentiles(gap),
    tickLateUs: percentiles(ticks),
  };
}

function start([command, ...args]: string[], host: string): ChildProcess {
  const env = { ...process.env, PAIR_HOST: host };
  const child = spawn(command!, args, { stdio: ['ignore', 'pipe', 'inherit'], signal: interruption, env });
  child.on('error', () => {});
  return child;
}

function lines(child: ChildProcess): AsyncIterator<string, string | undefined> {
  return createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
}
