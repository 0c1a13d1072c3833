import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { z } from 'zod';
import { packageRoot } from '../files/package-root.ts';
import type { ReplayJob, ReplayRequest } from '../messages/console.ts';

const IDLE: ReplayJob = { state: 'idle', episode: '', speed: 1, doneS: 0, totalS: 0, message: '' };
const MAX_MESSAGE_CHARS = 400;

const reportSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('saying'), text: z.string() }),
  z.object({ kind: z.literal('played'), doneS: z.number(), totalS: z.number() }),
]);

const endSchema = z.object({ complete: z.boolean(), maxErrorRad: z.number() });

/**
 * Runs `farhand replay --robot` for a page, one at a time. The verb, the operator and the robot's supervisor guard the
 * motion. The replay ends when the page that started it is no longer in control, and with the console: its process then
 * opens the clutch, and the robot holds.
 */
export class ReplayRunner {
  readonly #rigArgs: readonly string[] | null;
  readonly #recordDir: string;
  readonly #report: (job: ReplayJob) => void;
  #child: ChildProcess | null = null;
  #page = 0;
  #isStopped = false;
  job: ReplayJob = IDLE;

  constructor(rigArgs: readonly string[] | null, recordDir: string, report: (job: ReplayJob) => void) {
    this.#rigArgs = rigArgs;
    this.#recordDir = recordDir;
    this.#report = report;
  }

  take(request: ReplayRequest, page: number): void {
    if (request.action === 'stop') this.stop();
    else if (this.#child === null) this.#start(request.episode, request.speed, page);
  }

  /** The page that is in control now; null: none. */
  controlledBy(page: number | null): void {
    if (page !== this.#page) this.stop();
  }

  stop(): void {
    if (this.#child === null) return;
    this.#isStopped = true;
    this.#child.kill('SIGTERM');
  }

  close(): void {
    this.stop();
  }

  #start(episode: string, speed: number, page: number): void {
    const job: ReplayJob = { ...IDLE, state: 'running', episode, speed, message: 'starting' };
    if (this.#rigArgs === null || this.#recordDir === '')
      return this.#set({ ...job, state: 'failed', message: 'This console cannot replay recordings.' });
    this.#page = page;
    this.#isStopped = false;
    const file = path.join(path.resolve(this.#recordDir), `${episode}.mcap`);
    const words = ['replay', file, '--robot', '--json', '--speed', String(speed), ...this.#rigArgs];
    // The channel ends with this process, and then the replay does too.
    const child = spawn(process.execPath, [path.join(packageRoot, 'bin', 'farhand'), ...words], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#child = child;
    const texts = { out: '', error: '' };
    child.stdout!.on('data', (data: Buffer) => {
      texts.out = (texts.out + data.toString()).slice(-4096);
    });
    child.stderr!.on('data', (data: Buffer) => {
      texts.error = (texts.error + data.toString()).slice(-4096);
    });
    child.on('message', (message) => this.#received(child, message));
    child.on('error', (error) => this.#end(child, null, { ...texts, error: error.message }));
    child.on('close', (code) => this.#end(child, code, texts));
    this.#set(job);
  }

  #received(child: ChildProcess, message: unknown): void {
    const read = reportSchema.safeParse(message);
    if (!read.success || child !== this.#child) return;
    const { data } = read;
    if (data.kind === 'saying') this.#set({ ...this.job, message: data.text.slice(0, MAX_MESSAGE_CHARS) });
    else this.#set({ ...this.job, doneS: data.doneS, totalS: data.totalS });
  }

  #end(child: ChildProcess, code: number | null, texts: { out: string; error: string }): void {
    if (child !== this.#child) return;
    this.#child = null;
    const { job } = this;
    if (this.#isStopped) return this.#set({ ...job, state: 'stopped', message: 'Stopped; the robot holds.' });
    const played = code === 0 ? readEnd(texts.out) : null;
    if (played === null) return this.#set({ ...job, state: 'failed', message: failureText(texts.error) });
    const message = `Done; the robot holds. Largest difference from the recording: ${played.maxErrorRad.toFixed(3)} rad.`;
    this.#set({ ...job, state: 'done', doneS: job.totalS, message });
  }

  #set(job: ReplayJob): void {
    this.job = job;
    this.#report(job);
  }
}

function readEnd(out: string): z.infer<typeof endSchema> | null {
  try {
    return endSchema.parse(JSON.parse(out.trim().split('\n').at(-1) ?? ''));
  } catch {
    return null;
  }
}

/** Two lines: what happened, and what to do. */
function failureText(error: string): string {
  const lines = error.trim().split('\n').slice(-2);
  const text = lines.map((line) => line.replace(/^farhand: |^\s*→ /, '').trim()).join(' ');
  return (text || 'The replay ended unexpectedly.').slice(0, MAX_MESSAGE_CHARS);
}
