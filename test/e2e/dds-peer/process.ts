import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export interface PeerReport {
  received: number;
  gaps: number;
  repeats: number;
  wrong: number;
  written: number;
  matched?: [number, number];
  resent?: number;
  tally?: Record<string, number>;
}

export interface PeerSettings {
  domainId: number;
  prefix: string;
  reliability: 'reliable' | 'best-effort';
  seconds: number;
  joints?: number;
  /** Share of the datagrams that our side loses, coming and going. */
  loss?: number;
}

const EMPTY: PeerReport = { received: 0, gaps: 0, repeats: 0, wrong: 0, written: 0 };
const HZ = 90;
/** CycloneDDS on loopback only. */
export const CYCLONEDDS_URI =
  '<CycloneDDS><Domain><General><Interfaces><NetworkInterface name="lo" multicast="true"/></Interfaces></General></Domain></CycloneDDS>';

/** One side of the exchange as a process: a third-party one or ours. */
export class Peer {
  report = EMPTY;
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;

  constructor(command: string, args: readonly string[]) {
    this.#child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, CYCLONEDDS_URI },
    });
    this.ended = new Promise((resolve) => this.#child.once('close', () => resolve()));
    createInterface({ input: this.#child.stdout! }).on('line', (line) => {
      this.report = { ...EMPTY, ...(JSON.parse(line) as Partial<PeerReport>) };
    });
  }

  static foreign(file: string, settings: PeerSettings): Peer {
    return new Peer(file, words(settings));
  }

  static ours(role: 'robot' | 'operator', settings: PeerSettings): Peer {
    const file = path.join(path.dirname(fileURLToPath(import.meta.url)), 'peer.js');
    return new Peer(process.execPath, [file, ...words(settings), role, String(settings.loss ?? 0)]);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  async end(): Promise<PeerReport> {
    this.#child.kill('SIGTERM');
    await this.ended;
    return this.report;
  }

  /** Waits until it has one partner in each direction. */
  async isPaired(withinMs: number): Promise<void> {
    const start = performance.now();
    while (this.report.matched?.join() !== '1,1') {
      if (performance.now() - start > withinMs) throw new Error(JSON.stringify(this.report));
      await sleep(50);
    }
  }

  /** Waits for this many more samples; returns the milliseconds taken. */
  async receives(more: number, withinMs: number): Promise<number> {
    const goal = this.report.received + more;
    const start = performance.now();
    while (this.report.received < goal) {
      if (performance.now() - start > withinMs)
        throw new Error(
          `${more} more samples expected within ${withinMs} ms: ${JSON.stringify(this.report)}`,
        );
      await sleep(20);
    }
    return Math.round(performance.now() - start);
  }
}

const words = ({ domainId, prefix, reliability, seconds, joints = 17 }: PeerSettings): string[] =>
  [domainId, prefix, reliability, HZ, seconds, joints].map(String);
