import { type ChildProcess, spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import path from 'node:path';
import { packageRoot } from '../files/package-root.ts';
import type { ExportJob } from '../messages/console.ts';

const IDLE: ExportJob = { state: 'idle', format: '', out: '', progress: null, message: '' };
const MAX_MESSAGE_CHARS = 300;
/** The export's line for an episode that is in the dataset. */
const EPISODE_DONE = /: (episode \d+,|was in the dataset before)/;

/** Runs `farhand export` and `farhand dataset` in their own process, at low priority; one at a time. */
export class ExportRunner {
  readonly #report: (job: ExportJob) => void;
  #child: ChildProcess | null = null;
  /** How many episodes are exported, and how many of them are done. */
  #episodes = 1;
  #finished = 0;
  #problem = '';
  job: ExportJob = IDLE;

  constructor(report: (job: ExportJob) => void) {
    this.#report = report;
  }

  /** False: one is already running. */
  start(format: string, args: readonly string[], out: string, episodes = 1): boolean {
    return this.run(format, ['export', format, ...args], out, episodes);
  }

  /** Any verb with its words; `what` names it. */
  run(what: string, words: readonly string[], out: string, episodes = 1): boolean {
    if (this.#child !== null) return false;
    this.#episodes = Math.max(1, episodes);
    this.#finished = 0;
    this.#problem = '';
    const bin = path.join(packageRoot, 'bin', 'farhand');
    const child = spawn(process.execPath, [bin, ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    beNice(child.pid);
    this.#child = child;
    this.#set({ state: 'running', format: what, out, progress: null, message: 'starting' });
    for (const stream of [child.stdout, child.stderr])
      eachLine(stream, (line) => this.#child === child && this.#received(line));
    child.on('error', (error) => this.#end(child, error.message));
    child.on('close', (code) => this.#end(child, code === 0 ? null : ''));
    return true;
  }

  close(): void {
    this.#child?.kill('SIGTERM');
  }

  #received(line: string): void {
    const { progress, message } = readProgress(line);
    if (EPISODE_DONE.test(line)) this.#finished++;
    if (line.startsWith('farhand: ')) this.#problem = message;
    const share = Math.min(1, (this.#finished + (progress ?? 0)) / this.#episodes);
    const known = progress !== null || this.#finished > 0;
    this.#set({ ...this.job, progress: known ? share : null, message: message || this.job.message });
  }

  /** `failure`: null on success, empty when the output holds the reason. */
  #end(child: ChildProcess, failure: string | null): void {
    if (this.#child !== child) return;
    this.#child = null;
    const { job } = this;
    if (failure === null) this.#set({ ...job, state: 'done', progress: 1 });
    else this.#set({ ...job, state: 'failed', message: failure || this.#problem || job.message });
  }

  #set(job: ExportJob): void {
    this.job = job;
    this.#report(job);
  }
}

/**
 * Progress of one episode: `40 %`, `2/5`, `2 of 5`, `{"progress":0.4}` or `{"done":2,"total":5}`; else a
 * message.
 */
export function readProgress(line: string): { progress: number | null; message: string } {
  const text = line.replace(/^farhand: /, '').trim();
  try {
    const { progress, done, total, message } = JSON.parse(text) as Record<string, unknown>;
    const share = typeof progress === 'number' ? progress : Number(done) / Number(total);
    const reported = typeof message === 'string' ? message : '';
    return { progress: inUnit(share), message: reported.slice(0, MAX_MESSAGE_CHARS) };
  } catch {
    // Not JSON: read it as text.
  }
  const percent = /(\d+(?:\.\d+)?)\s?%/.exec(text)?.[1];
  const [, done, total] = /\b(\d+)\s?(?:\/|of)\s?(\d+)\b/.exec(text) ?? [];
  const share = percent === undefined ? Number(done) / Number(total) : Number(percent) / 100;
  return { progress: inUnit(share), message: text.slice(0, MAX_MESSAGE_CHARS) };
}

const inUnit = (share: number): number | null => (share >= 0 && share <= 1 ? share : null);

/** Encoding takes all the CPU time it can get; robot control comes first. */
function beNice(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It may have exited already.
  }
}

function eachLine(stream: NodeJS.ReadableStream, take: (line: string) => void): void {
  let rest = '';
  stream.on('data', (data: Buffer) => {
    const lines = (rest + data.toString()).split(/[\r\n]+/);
    rest = lines.pop()?.slice(-4096) ?? '';
    for (const line of lines) if (line.trim() !== '') take(line);
  });
  stream.on('end', () => rest.trim() !== '' && take(rest));
}
