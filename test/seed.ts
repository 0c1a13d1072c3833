/** Determines every random choice in tests. The runner sets and prints it; FARHAND_SEED repeats a run. */
export const SEED = Number(process.env['FARHAND_SEED'] ?? 20_240_229);
