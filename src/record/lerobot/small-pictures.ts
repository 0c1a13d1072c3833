import { spawn } from 'node:child_process';

/** Decoded pictures are scaled to this size: enough to compare, little to move. */
const SMALL = { widthPx: 32, heightPx: 24 } as const;
const PICTURE_BYTES = 3 * SMALL.widthPx * SMALL.heightPx;
const CELL_X = SMALL.widthPx / 4;
const CELL_Y = SMALL.heightPx / 4;

export interface DecodedPictures {
  /** 8-bit RGB, in the order shown. */
  pictures: Uint8Array[];
  /** What the decoder complained about; empty: nothing. */
  complaint: string;
  /** The decoder could not be started. */
  isMissing: boolean;
}

/** Decodes `count` pictures of a video from picture `from` on. */
export function decodeSmall(
  file: string,
  from: number,
  count: number,
  fps: number,
): Promise<DecodedPictures> {
  // Half a picture early, so that rounding cannot skip one.
  const seek = from === 0 ? [] : ['-ss', ((from - 0.5) / fps).toFixed(6)];
  const child = spawn(
    'ffmpeg',
    [
      ...['-hide_banner', '-loglevel', 'error', ...seek, '-i', file, '-map', '0:v:0', '-an'],
      ...['-frames:v', String(count), '-vf', `scale=${SMALL.widthPx}:${SMALL.heightPx}:flags=area`],
      ...['-fps_mode', 'passthrough', '-pix_fmt', 'rgb24', '-f', 'rawvideo', 'pipe:1'],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const chunks: Buffer[] = [];
  let complaint = '';
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(0, 2000);
  });
  return new Promise((resolve) => {
    child.once('error', ({ message }) => resolve({ pictures: [], complaint: message, isMissing: true }));
    child.once('close', (code) => {
      const [first = ''] = complaint.trim().split('\n');
      const why = first === '' && code !== 0 ? `the decoder exited with ${code ?? 'a signal'}` : first;
      resolve({ pictures: split(Buffer.concat(chunks)), complaint: why, isMissing: false });
    });
  });
}

function split(bytes: Buffer): Uint8Array[] {
  const pictures: Uint8Array[] = [];
  for (let at = 0; at + PICTURE_BYTES <= bytes.length; at += PICTURE_BYTES)
    pictures.push(bytes.subarray(at, at + PICTURE_BYTES));
  return pictures;
}

/** Mean brightness of each of 4 × 4 cells, 0 … 255. */
export function lumaOf(rgb: Uint8Array): Float64Array {
  const cells = new Float64Array(16);
  for (let y = 0; y < SMALL.heightPx; y++)
    for (let x = 0; x < SMALL.widthPx; x++) {
      const at = 3 * (y * SMALL.widthPx + x);
      const cell = 4 * Math.floor(y / CELL_Y) + Math.floor(x / CELL_X);
      cells[cell]! += 0.299 * rgb[at]! + 0.587 * rgb[at + 1]! + 0.114 * rgb[at + 2]!;
    }
  return cells.map((sum) => sum / (CELL_X * CELL_Y));
}

/** The largest difference of any value between two pictures. */
export function largestDifference(a: Uint8Array, b: Uint8Array): number {
  let most = 0;
  for (let i = 0; i < a.length; i++) most = Math.max(most, Math.abs(a[i]! - b[i]!));
  return most;
}

export function meanDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += Math.abs(a[i]! - b[i]!);
  return sum / Math.max(1, a.length);
}
