import { type ChildProcess, execFile, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { type Percentiles, percentiles } from '../../src/core/statistics/percentiles.ts';
import { packageRoot } from '../../src/files/package-root.ts';
import { percentilesMs } from '../../src/trace/milliseconds.ts';
import type { LoadSeen } from '../environment.ts';
import { interruption } from '../interrupt.ts';
import { type PathResult, WARM_UP_S } from './path.ts';

export type PairKind = 'zmq' | 'udp';

/** Versions if the pair can run, otherwise the reason and the remedy. */
export type PairCheck = { ok: true; versions: string } | { ok: false; why: string; remedy: string };

const SCRIPT = path.join(packageRoot, 'bench', 'peers', 'pair.py');
const PYTHON = process.env['PYTHON'] ?? 'python3';
const NO_PYZMQ = 3;

export function checkPair(kind: PairKind): Promise<PairCheck> {
  return new Promise((resolve) => {
    execFile(PYTHON, [SCRIPT, 'check', kind], (error, stdout) => {
      if (error === null) {
        const versions = Object.entries(JSON.parse(stdout) as Record<string, string>);
        resolve({ ok: true, versions: versions.map((pair) => pair.join(' ')).join(', ') });
      } else if (error.code === NO_PYZMQ) {
        const remedy = `${PYTHON} -m pip install pyzmq (or python3 -m venv bench-venv && bench-venv/bin/pip install pyzmq, then PYTHON=bench-venv/bin/python3)`;
        resolve({ ok: false, why: `${PYTHON} has no pyzmq`, remedy });
      } else {
        const remedy = 'Install Python 3 and pyzmq, or select the interpreter: PYTHON=/path/to/python3';
        resolve({ ok: false, why: `${PYTHON} does not run`, remedy });
      }
    });
  });
}

/** Stamps of a pair's messages, published → sent → received → parsed, collected over several runs. */
export class PairSamples {
  readonly load: LoadSeen[] = [];
  readonly #columns: Record<'oneWay' | 'serialise' | 'wire' | 'parse', number[]> = {
    oneWay: [],
    serialise: [],
    wire: [],
    parse: [],
  };
  #sent = 0;
  bytes = 0;

  addRun({ published, received }: PairRun, load: LoadSeen): void {
    this.load.push(load);
    this.bytes = published.bytes;
    const bySeq = new Map(received.map((row) => [row[0], row]));
    const fromNs = (published.stamps[0]?.[1] ?? 0) + WARM_UP_S * 1e9;
    for (const [seq, publishedNs, sentNs] of published.stamps) {
      if (publishedNs < fromNs) continue;
      this.#sent++;
      const arrival = bySeq.get(seq);
      if (arrival === undefined) continue;
      const [, receivedNs, parsedNs] = arrival;
      this.#columns.oneWay.push(parsedNs - publishedNs);
      this.#columns.serialise.push(sentNs - publishedNs);
      this.#columns.wire.push(receivedNs - sentNs);
      this.#columns.parse.push(parsedNs - receivedNs);
    }
  }

  result(name: string, hz: number): PathResult {
    const reported = (values: number[]): Percentiles | null => percentilesMs(percentiles(values));
    const { oneWay, serialise, wire, parse } = this.#columns;
    return {
      name,
      hz,
      commands: this.#sent,
      applied: oneWay.length,
      lost: this.#sent - oneWay.length,
      rejected: 0,
      dropped: 0,
      oneWayMs: reported(oneWay),
      segmentsMs: { serialise: reported(serialise), wire: reported(wire), parse: reported(parse) },
      messageMs: reported(oneWay),
      clockErrorMs: null,
      load: this.load,
    };
  }
}

type Stamps = [seq: number, firstNs: number, secondNs: number][];

export interface PairRun {
  published: { bytes: number; stamps: Stamps };
  received: Stamps;
}

/** Publisher and subscriber as two Python processes on loopback. */
export async function pairRun(kind: PairKind, hz: number, seconds: number): Promise<PairRun> {
  const count = Math.round(hz * seconds);
  const subscriber = start(['sub', kind, String(count)]);
  const subscribed = lines(subscriber);
  const port = (await subscribed.next()).value ?? '';
  const publisher = start(['pub', kind, port, String(count), String(hz)]);
  const sent = (await lines(publisher).next()).value ?? '';
  const got = (await subscribed.next()).value ?? '';
  await Promise.all([ended(publisher), ended(subscriber)]);
  interruption.throwIfAborted();
  return {
    published: JSON.parse(sent) as PairRun['published'],
    received: JSON.parse(got) as Stamps,
  };
}

function start(args: string[]): ChildProcess {
  const child = spawn(PYTHON, [SCRIPT, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    signal: interruption,
  });
  child.on('error', () => {});
  return child;
}

function lines(child: ChildProcess): AsyncIterator<string, string | undefined> {
  return createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once('close', () => resolve()));
}
