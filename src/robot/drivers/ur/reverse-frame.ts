/** The frame our control program reads: eight int32, network order: timeout in ms, six values × 10⁶, mode. */
export const REVERSE_FRAME_BYTES = 32;
const REVERSE_SCALE = 1e6;

export const REVERSE_MODE = { idle: 0, servoj: 1, speedj: 2, stop: -2 } as const;

/** Writes a frame in place. Hot path. Values beyond ±2147 do not fit: the caller checks ranges. */
export function encodeReverseFrame(
  frame: Buffer,
  timeoutMs: number,
  values: Float64Array | null,
  mode: number,
): void {
  frame.writeInt32BE(timeoutMs, 0);
  for (let i = 0; i < 6; i++)
    frame.writeInt32BE(values === null ? 0 : Math.round(values[i]! * REVERSE_SCALE) | 0, 4 + 4 * i);
  frame.writeInt32BE(mode, 28);
}
