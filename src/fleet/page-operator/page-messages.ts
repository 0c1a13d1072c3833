import { z } from 'zod';
import { parseJson } from '../../core/parse-json.ts';
import { xrAsksEstop } from '../../input/codecs/webxr-codec.ts';

const estop = z.object({ kind: z.literal('estop') });
const probed = z.object({ kind: z.literal('probed'), t0: z.number() });

/** Whether a page's message requests an e-stop, even if the rest of it is invalid. */
export function asksEstop(data: string | Uint8Array): boolean {
  if (typeof data !== 'string') return xrAsksEstop(data, data.length);
  return (
    data.includes('estop') &&
    typeof parseJson(data, estop, data.length, Number.POSITIVE_INFINITY) !== 'string'
  );
}

/** When the probe that the page answers was sent; null: not an answer. */
export function probeAnswered(text: string): number | null {
  if (!text.includes('"probed"')) return null;
  const answer = parseJson(text, probed, text.length);
  return typeof answer === 'string' ? null : answer.t0;
}
