/** CI tries everything; a developer's run a fifth of it. FARHAND_FUZZ=10 tries ten times as much. */
const SCALE = Number(process.env['FARHAND_FUZZ'] ?? (process.env['CI'] ? 1 : 0.2));

/** How many of `count` to try. */
export const scaled = (count: number): number => Math.round(count * SCALE);
