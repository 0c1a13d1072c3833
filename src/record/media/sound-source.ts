import { type ChildProcess, spawn } from 'node:child_process';
import { TeleopError } from '../../core/errors.ts';
import { NS_PER_S } from '../../core/time/clock.ts';
import { soundInput } from '../../messages/sound-device.ts';

export interface SoundSource {
  close(): void;
}

/** `take` gets 16-bit samples, little-endian, one channel. `failed` is called at most once; nothing follows it. */
export type OpenSound = (
  take: (samples: Uint8Array, rateHz: number) => void,
  failed: (error: TeleopError) => void,
) => SoundSource;

/** Blocks of 20 ms. */
const BLOCKS_PER_S = 50;

/** The microphone `setting` through an ffmpeg process, which ends with this one. */
export function openSound(
  setting: string,
  rateHz: number,
  take: (samples: Uint8Array, rateHz: number) => void,
  failed: (error: TeleopError) => void,
): SoundSource {
  const child = spawn('ffmpeg', argumentsOf(setting, rateHz), { stdio: ['ignore', 'pipe', 'pipe'] });
  let isOpen = true;
  let errors = '';
  const fail = (why: string, cause?: unknown) => {
    if (!isOpen) return;
    isOpen = false;
    failed(soundFailed(setting, why, cause));
  };
  const blocks = new Blocks((2 * rateHz) / BLOCKS_PER_S);
  child.stdout.on('data', (data: Buffer) => {
    if (isOpen) blocks.push(data, (samples) => take(samples, rateHz));
  });
  child.stderr.on('data', (data: Buffer) => {
    errors = (errors + data.toString()).slice(-2000);
  });
  child.on('error', (cause) => fail(`ffmpeg cannot be started: ${cause.message}`, cause));
  child.on('close', (code, signal) =>
    fail(errors.trim().split('\n').at(-1) || `ffmpeg exited with ${code ?? signal}`),
  );
  return {
    close() {
      isOpen = false;
      end(child);
    },
  };
}

/** Without a reader of its output ffmpeg also ends by itself, so it does not outlive a killed process. */
function end(child: ChildProcess): void {
  child.kill('SIGKILL');
  for (const stream of [child.stdout, child.stderr]) stream?.destroy();
}

function argumentsOf(setting: string, rateHz: number): string[] {
  return [
    ...['-hide_banner', '-loglevel', 'error', '-nostdin', '-fflags', 'nobuffer'],
    ...soundInput(setting, rateHz),
    ...['-vn', '-ac', '1', '-ar', String(rateHz), '-c:a', 'pcm_s16le', '-flush_packets', '1', '-f', 's16le'],
    'pipe:1',
  ];
}

/** Cuts a stream of bytes into blocks of one size. */
class Blocks {
  readonly #bytes: number;
  #rest = Buffer.alloc(0);

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  push(data: Buffer, take: (block: Uint8Array) => void): void {
    let rest = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data]);
    for (; rest.length >= this.#bytes; rest = rest.subarray(this.#bytes)) take(rest.subarray(0, this.#bytes));
    this.#rest = Buffer.from(rest);
  }
}

/** A block that arrives this much later than the samples before it end means that sound was lost. */
const LOST_NS = 500e6;
/** How much of its length a block may be moved towards the past. */
const PULL = 0.25;

/**
 * When each block began. Blocks arrive late and in bursts, but samples are evenly spaced: a block begins where the last
 * one ended. It cannot begin later than its arrival allows; then the times are pulled back, little by little, so that
 * they stay in order.
 */
export class SoundTimes {
  #endNs = Number.NaN;

  startOf(durationS: number, arrivedNs: number): number {
    const lengthNs = durationS * NS_PER_S;
    const latestNs = arrivedNs - lengthNs;
    const isNext = latestNs - this.#endNs < LOST_NS;
    const startNs = isNext
      ? Math.max(this.#endNs - PULL * lengthNs, Math.min(this.#endNs, latestNs))
      : latestNs;
    this.#endNs = startNs + lengthNs;
    return startNs;
  }
}

const soundFailed = (setting: string, why: string, cause: unknown): TeleopError =>
  new TeleopError('sound-failed', `no sound from ${setting}: ${why}`, {
    hint: 'List the devices with `arecord -L` or `pactl list sources`, or leave record.sound empty.',
    cause,
  });
