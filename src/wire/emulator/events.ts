import { z } from 'zod';
import { NS_PER_MS } from '../../core/time/clock.ts';

const ms = z.number().min(0).max(86_400_000);

/** A fault at a known time since the start of the emulation (or since the settings were changed). */
export const linkEventSchema = z.strictObject({
  kind: z
    .enum(['hole', 'stall'])
    .describe('hole: datagrams sent during it are lost; stall: they are held and delivered at its end'),
  atMs: ms.describe('when it begins'),
  forMs: ms.describe('how long it lasts'),
  everyMs: ms.min(1).optional().describe('repeats after this time: a flapping link'),
  times: z.int().min(1).optional().describe('total number; with everyMs and without this, forever'),
  direction: z.enum(['forward', 'return', 'both']).default('both').describe('which direction'),
});

export type LinkEvent = z.infer<typeof linkEventSchema>;
export type LinkEventInput = z.input<typeof linkEventSchema>;

/** The time within the event if `timeNs` is in it, measured to its end; 0 otherwise. Hot path. */
export function leftOfEventNs(event: LinkEvent, timeNs: number): number {
  const sinceNs = timeNs - event.atMs * NS_PER_MS;
  const forNs = event.forMs * NS_PER_MS;
  if (sinceNs < 0) return 0;
  if (event.everyMs === undefined) return Math.max(0, forNs - sinceNs);
  const periodNs = event.everyMs * NS_PER_MS;
  const round = Math.floor(sinceNs / periodNs);
  if (event.times !== undefined && round >= event.times) return 0;
  return Math.max(0, forNs - (sinceNs - round * periodNs));
}
