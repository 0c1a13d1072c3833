/** How many times slower than a usual machine this one is, as an emulated processor: all time limits are multiplied by it. */
export const SLOWER = Math.max(1, Number(process.env.FARHAND_SLOWER ?? 1) || 1);
