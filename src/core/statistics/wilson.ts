const Z = 1.959964;

/** 95 % interval of a rate by Wilson's score: sound for few trials and for rates near 0 and 1. */
export function wilson(successes: number, trials: number): { low: number; high: number } {
  if (trials === 0) return { low: 0, high: 1 };
  const rate = successes / trials;
  const spread = Z * Math.sqrt((rate * (1 - rate)) / trials + Z ** 2 / (4 * trials ** 2));
  const middle = rate + Z ** 2 / (2 * trials);
  const scale = 1 / (1 + Z ** 2 / trials);
  return { low: Math.max(0, scale * (middle - spread)), high: Math.min(1, scale * (middle + spread)) };
}
