import { POINT_COUNTS } from '../../hand/points.ts';
import {
  decodeButton,
  decodeHand,
  emptyHandToken,
  encodeHandToken,
} from '../../input/codecs/openteach-codec.ts';
import type { Protocol } from './contract.ts';

export const openteach: Protocol = {
  about: 'hand points as OpenTeach’s Quest app sends them, or High, Low and None of its buttons',
  decode(bytes) {
    const button = decodeButton(bytes, bytes.length);
    if (button !== null) return { ok: true, button };
    const token = emptyHandToken();
    const reason = decodeHand(bytes, bytes.length, token);
    if (reason !== null) return { ok: false, reason };
    const { mode, count, pointsM } = token;
    const points = Array.from({ length: count }, (_, i) => [...pointsM.subarray(3 * i, 3 * i + 3)]);
    return { ok: true, mode, points };
  },
  encode(value) {
    const { button, mode = 'absolute', points } = (value ?? {}) as Record<string, unknown>;
    const text =
      button === 'High' || button === 'Low' || button === 'None' ? button : tokenText(mode, points);
    return typeof text === 'string' ? new TextEncoder().encode(text) : text;
  },
  send: async (given) => (await import('../send-openteach.ts')).sendOpenTeach(given, openteach.encode),
};

function tokenText(mode: unknown, points: unknown): string | { ok: false; reason: string } {
  if (mode !== 'absolute' && mode !== 'relative')
    return { ok: false, reason: 'mode must be absolute or relative' };
  if (!Array.isArray(points) || !POINT_COUNTS.includes(points.length))
    return { ok: false, reason: `points: must be ${POINT_COUNTS.join(', ')} points` };
  const flat = points.flatMap((point: unknown) =>
    Array.isArray(point) && point.length === 3 ? point : [NaN],
  );
  if (flat.length !== 3 * points.length || !flat.every(Number.isFinite))
    return { ok: false, reason: 'points: each must be x, y, z' };
  return encodeHandToken(mode, points.length, flat as number[]);
}
