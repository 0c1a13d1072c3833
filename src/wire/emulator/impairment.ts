import { z } from 'zod';

const ms = z.number().min(0).max(60_000);
const seconds = z.number().min(0.001).max(86_400);
const share = z.number().min(0).max(1);
const ordered = ([low, high]: readonly [number, number]) => low <= high;
const msRange = z.tuple([ms, ms]).refine(ordered, 'the first must not exceed the second');
const sRange = z.tuple([seconds, seconds]).refine(ordered, 'the first must not exceed the second');

/** Periods in which the link carries nothing; then it delivers what has waited, back to back. */
const blocksSchema = z.strictObject({
  perS: z.number().min(0).max(100).describe('average number per second, at random times'),
  lengthMs: msRange.describe('shortest and longest'),
  medianMs: ms.optional().describe('lognormal with this median; without it, uniform over lengthMs'),
  spread: z.number().min(0).max(3).default(0.4).describe('sigma of the lognormal'),
  lostShare: share
    .default(0)
    .describe('first part of each block in which datagrams are lost instead of held'),
});

/** Bad seconds: a raised floor, standing queues and stalls. */
const stormsSchema = z.strictObject({
  perS: z.number().min(0).max(10).describe('average number per second, at random times'),
  lengthS: sRange.describe('shortest and longest'),
  floorMs: ms.describe('median of the added delay throughout'),
  floorSpread: z.number().min(0).max(3).default(0.37).describe('sigma of its lognormal'),
  pauseMs: ms.min(1).describe('mean time between standing queues'),
  heightMs: msRange.describe('delay a standing queue adds'),
  plateauMs: msRange.describe('how long a standing queue lasts'),
  riseMs: ms.describe('how long it takes to build up'),
  noiseMs: ms.default(0).describe('spread of the delay within a standing queue'),
  stallShare: share.default(0).describe('share of standing queues that are complete stalls instead'),
});

/** Another user's bulk transfer that fills the bottleneck's buffer in a sawtooth. */
const bloatSchema = z.strictObject({
  onS: sRange.describe('length of a transfer'),
  offS: sRange.describe('pause between transfers'),
  peakMs: msRange.describe('delay when the buffer is full'),
  riseS: sRange.describe('time to fill it the first time'),
  backOff: share.describe('part of the peak that remains after the sender backs off'),
  againS: sRange.describe('time from there to the peak'),
  drainS: seconds.describe('time to empty it at the end'),
});

/**
 * What one direction of a link does to datagrams. Everything is off by default.
 * Shares are per datagram; rates per second and durations depend on time alone, not on the traffic.
 */
export const impairmentSchema = z.strictObject({
  fifo: z.boolean().default(true).describe('datagrams never overtake each other (stragglers excepted)'),
  delayMs: ms.default(0).describe('usual time in transit'),
  minDelayMs: ms.default(0).describe('jitter never goes below this'),
  jitter: z
    .strictObject({
      sdMs: ms.default(0).describe('spread of the part that changes smoothly'),
      stepMs: ms.min(0.1).default(20).describe('time scale of its changes'),
      whiteSdMs: ms.default(0).describe('spread of the part that is new for every datagram'),
    })
    .prefault({})
    .describe('variation around the typical delay'),
  drift: z
    .strictObject({
      sdMs: ms.default(0).describe('added delay under load; zero half of the time'),
      stepS: seconds.default(5).describe('time scale of its changes'),
    })
    .prefault({})
    .describe('slow load changes'),
  route: z
    .strictObject({
      rangeMs: ms.default(0).describe('each route adds from 0 to this'),
      everyS: seconds.default(200).describe('time between route changes'),
    })
    .prefault({})
    .describe('steps of the typical delay'),
  tails: z
    .array(
      z.strictObject({
        share: share.describe('share of datagrams affected'),
        minMs: ms.default(0).describe('least extra delay'),
        meanMs: ms.default(0).describe('plus an exponentially distributed delay of this mean'),
      }),
    )
    .default([])
    .describe('occasional extra delay, such as a retransmission'),
  blocks: z.array(blocksSchema).default([]).describe('periods in which nothing passes'),
  storms: stormsSchema.optional().describe('bad seconds'),
  bloat: bloatSchema.optional().describe('standing queue of a competing transfer'),
  loss: z
    .strictObject({
      share: share.default(0).describe('share of datagrams lost independently of each other'),
      burstShare: share.default(0).describe('share of datagrams that start a bad spell (Gilbert–Elliott)'),
      burstDatagrams: z.number().min(1).max(1e6).default(4).describe('mean length of a bad spell'),
      burstLoss: share.default(1).describe('share lost within a bad spell'),
    })
    .prefault({})
    .describe('datagrams that never arrive'),
  duplicate: z
    .strictObject({
      share: share.default(0).describe('share of datagrams delivered twice'),
      afterMs: ms.default(0.2).describe('delay of the copy'),
    })
    .prefault({})
    .describe('duplicated datagrams'),
  straggler: z
    .strictObject({
      share: share.default(0).describe('share of datagrams that arrive out of order'),
      extraMs: msRange.default([10, 30]).describe('how much later they arrive'),
    })
    .prefault({})
    .describe('reordering'),
  spacingMs: ms.default(0).describe('minimum time between two deliveries of a FIFO link'),
  rate: z
    .strictObject({
      kbitS: z.number().min(0).max(1e8).default(0).describe('bottleneck, counting UDP payload; 0: none'),
      queueBytes: z
        .int()
        .min(1500)
        .max(1e8)
        .default(65_536)
        .describe('its buffer; what does not fit is lost'),
      queueDatagrams: z.int().min(1).max(65_536).default(1000).describe('its buffer, in datagrams'),
    })
    .prefault({})
    .describe('bottleneck with a bounded queue'),
});

export type Impairment = z.infer<typeof impairmentSchema>;
/** As written in a profile or a file: only the settings that differ from the defaults. */
export type ImpairmentInput = z.input<typeof impairmentSchema>;
export type Blocks = z.infer<typeof blocksSchema>;
export type Storms = z.infer<typeof stormsSchema>;
export type Bloat = z.infer<typeof bloatSchema>;
