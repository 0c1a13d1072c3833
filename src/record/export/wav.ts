import type { SoundBlock } from '../foxglove/messages.ts';

/** A shorter gap between two blocks is jitter of their times. */
const GAP_S = 0.1;
const SAMPLE_BYTES = 2;

/** A WAV file that begins at `startWallNs`, with silence where there is no sound. Null: no sound after that. */
export async function wavOf(
  blocks: AsyncIterable<SoundBlock>,
  startWallNs: bigint,
): Promise<{ bytes: Uint8Array; durationS: number } | null> {
  const parts: Uint8Array[] = [];
  let rateHz = 0;
  let samples = 0;
  for await (const block of blocks) {
    rateHz ||= block.rateHz;
    if (block.rateHz !== rateHz) continue;
    const at = Math.round((Number(block.wallNs - startWallNs) / 1e9) * rateHz);
    if (at < 0 && samples === 0) continue;
    const isAfterGap = samples === 0 || at - samples > GAP_S * rateHz;
    if (isAfterGap && at > samples) {
      parts.push(new Uint8Array((at - samples) * SAMPLE_BYTES));
      samples = at;
    }
    parts.push(block.samples);
    samples += block.samples.length / SAMPLE_BYTES;
  }
  if (samples === 0) return null;
  const bytes = Buffer.concat([header(rateHz, samples * SAMPLE_BYTES), ...parts]);
  return { bytes, durationS: samples / rateHz };
}

/** RIFF: one channel of 16-bit samples. */
function header(rateHz: number, dataBytes: number): Buffer {
  const out = Buffer.alloc(44);
  out.write('RIFF', 0, 'latin1');
  out.writeUInt32LE(36 + dataBytes, 4);
  out.write('WAVEfmt ', 8, 'latin1');
  out.writeUInt32LE(16, 16);
  out.writeUInt16LE(1, 20);
  out.writeUInt16LE(1, 22);
  out.writeUInt32LE(rateHz, 24);
  out.writeUInt32LE(rateHz * SAMPLE_BYTES, 28);
  out.writeUInt16LE(SAMPLE_BYTES, 32);
  out.writeUInt16LE(8 * SAMPLE_BYTES, 34);
  out.write('data', 36, 'latin1');
  out.writeUInt32LE(dataBytes, 40);
  return out;
}
