import { xrAsksEstop } from '../../../input/codecs/webxr.ts';

/** Whether a message of a page asks for an e-stop, whatever else is wrong with it. */
export function asksEstop(data: string | Uint8Array): boolean {
  if (typeof data !== 'string') return xrAsksEstop(data, data.length);
  return data.includes('estop') && fieldOf(data, 'kind') === 'estop';
}

/** When the probe left that a page answers to; null: it says something else. */
export function probeAnswered(text: string): number | null {
  if (!text.includes('"probed"') || fieldOf(text, 'kind') !== 'probed') return null;
  const t0 = fieldOf(text, 't0');
  return typeof t0 === 'number' ? t0 : null;
}

function fieldOf(text: string, name: string): unknown {
  try {
    return (JSON.parse(text) as Record<string, unknown> | null)?.[name];
  } catch {
    return undefined;
  }
}
