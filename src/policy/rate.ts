import type { PolicyFacts } from './policy.ts';

/** Rows between two requests, unless chosen. */
export const REQUEST_ROWS = 5;
/** A policy that declares no rate and is given none. */
const DEFAULT_FPS = 10;
const SLACK = 0.05;

/** Rows per second: what the policy declares, unless chosen; `warn` is called when they differ. */
export function policyFps(
  { name, fps }: PolicyFacts,
  chosenHz: number | null,
  warn: (text: string) => void,
): number {
  if (fps === null) {
    if (chosenHz === null)
      warn(
        `${name} declares no rate: taking ${DEFAULT_FPS} rows per second. Give --dataset DIR or --hz N, the rate it was trained at.`,
      );
    return chosenHz ?? DEFAULT_FPS;
  }
  if (chosenHz !== null && Math.abs(chosenHz / fps - 1) > SLACK)
    warn(
      `${name} was trained at ${fps} rows per second; at --hz ${chosenHz} it moves ${(chosenHz / fps).toFixed(2)} times as fast.`,
    );
  return chosenHz ?? fps;
}
