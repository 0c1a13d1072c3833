import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface Allocation {
  plain: number;
  sealed: number;
}

/** A young generation so large that nothing is collected while it is measured. */
const FLAGS = ['--expose-gc', '--min-semi-space-size=128', '--max-semi-space-size=128'];

/** Bytes per command that the control loops of both roles allocate, in a process of its own on a simulated network. */
export function allocationPerTick(): Allocation {
  const entry = fileURLToPath(new URL('./allocation-entry.js', import.meta.url));
  return JSON.parse(execFileSync(process.execPath, [...FLAGS, entry], { encoding: 'utf8' })) as Allocation;
}

export const allocationText = ({ plain, sealed }: Allocation): string =>
  `Both control loops allocate ${plain.toFixed(0)} bytes per command in the clear, ${sealed.toFixed(0)} sealed (aim: none)`;
