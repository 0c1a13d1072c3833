import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { RoleAllocation } from './role-allocation.ts';

/** A young generation so large that nothing is collected while it is measured. */
const FLAGS = [
  '--expose-gc',
  '--no-concurrent-recompilation',
  '--min-semi-space-size=128',
  '--max-semi-space-size=128',
];

/** Bytes per command that the control loop of each role allocates, in a process of its own on a simulated network. */
export function allocationPerTick(): RoleAllocation {
  const entry = fileURLToPath(new URL('./allocation-entry.js', import.meta.url));
  return JSON.parse(
    execFileSync(process.execPath, [...FLAGS, entry], { encoding: 'utf8' }),
  ) as RoleAllocation;
}

export const allocationText = ({ operator, robot }: RoleAllocation): string =>
  `Bytes that a control loop allocates per command: operator ${operator.toFixed(0)}, robot ${robot.toFixed(0)} (aim: none)`;
