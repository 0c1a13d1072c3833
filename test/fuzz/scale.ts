/** A fifth by default. CI runs everything with a random seed (FARHAND_FUZZ=1); 10 runs ten times as much. */
const SCALE = Number(process.env['FARHAND_FUZZ'] ?? 0.2);

/** How many of `count` to run. */
export const scaled = (count: number): number => Math.round(count * SCALE);
