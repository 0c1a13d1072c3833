import type { Applied } from './replay.ts';

const cell = (us: number): string => (Number.isNaN(us) ? '' : String(us));

/** `seq,apply_us,delay_us`, one line per command; an empty cell means never applied or no delay. */
export function appliedCsv({ applyUs, delayUs }: Applied): string {
  const lines = ['seq,apply_us,delay_us'];
  for (let seq = 0; seq < applyUs.length; seq++)
    lines.push(`${seq},${cell(applyUs[seq]!)},${cell(delayUs[seq]!)}`);
  return `${lines.join('\n')}\n`;
}
