import type { ImpairmentInput } from './impairment.ts';

/** Wi-Fi on a good day: the base of the worse kinds. */
const calmWifi = {
  delayMs: 2.135,
  minDelayMs: 1.4,
  jitter: { sdMs: 0.19, stepMs: 14, whiteSdMs: 0.03 },
  tails: [{ share: 0.03, meanMs: 1.5 }],
  blocks: [{ perS: 0.8, lengthMs: [0.5, 15], medianMs: 5, spread: 0.4 }],
  spacingMs: 0.12,
} as const satisfies ImpairmentInput;

/**
 * Links by name. Parameters follow the 10-minute, 100 Hz reference traces; `docs/link-emulator.md` compares
 * the percentiles, and a test checks them.
 */
export const PROFILES = {
  off: { about: 'forwards everything at once', impairment: {} },
  ethernet: {
    about: 'switched Ethernet, 1.5 ms',
    impairment: {
      delayMs: 1.44,
      minDelayMs: 1.3,
      jitter: { sdMs: 0.046, stepMs: 30, whiteSdMs: 0.0294 },
      tails: [
        { share: 0.29, meanMs: 0.056 },
        { share: 0.0004, minMs: 0.2, meanMs: 0.2 },
      ],
    },
  },
  wifi: {
    about: 'Wi-Fi, own channel, power saving off: 2 ms with an occasional bad second',
    impairment: {
      ...calmWifi,
      tails: [{ share: 0.05, meanMs: 2.55 }],
      blocks: [{ perS: 0.35, lengthMs: [0.5, 15], medianMs: 5.9, spread: 0.4 }],
      storms: {
        perS: 0.038,
        lengthS: [1, 3],
        floorMs: 1.54,
        pauseMs: 350,
        heightMs: [20, 44],
        plateauMs: [45, 120],
        riseMs: 50,
        noiseMs: 2.4,
        stallShare: 0.12,
      },
    },
  },
  'wifi-untuned': {
    about: 'ordinary Wi-Fi: scans and power saving block it for up to 0.12 s',
    impairment: {
      delayMs: 2.684,
      minDelayMs: 1.9,
      jitter: { sdMs: 0.21, stepMs: 15, whiteSdMs: 0.05 },
      tails: [{ share: 0.127, meanMs: 2.28 }],
      blocks: [
        { perS: 3.167, lengthMs: [0.5, 30], medianMs: 7.4, spread: 0.38 },
        { perS: 0.275, lengthMs: [28, 122] },
      ],
      spacingMs: 0.1,
    },
  },
  '5g': {
    about: 'public 5G: 12 ms, retransmissions of 8 ms, stalls of up to 70 ms',
    impairment: {
      delayMs: 11.2,
      minDelayMs: 9.2,
      jitter: { sdMs: 0.1, stepMs: 30, whiteSdMs: 0.2 },
      drift: { sdMs: 3.1, stepS: 3 },
      tails: [
        { share: 0.08, minMs: 8 },
        { share: 0.0025, minMs: 16 },
      ],
      blocks: [
        { perS: 0.1, lengthMs: [25, 55] },
        { perS: 0.02, lengthMs: [30, 70] },
      ],
      loss: { share: 0.0005 },
      spacingMs: 0.1,
    },
  },
  wan: {
    about: 'over the Internet: 40 ms, route changes, some reordering',
    impairment: {
      delayMs: 36,
      minDelayMs: 35,
      jitter: { sdMs: 0.5, stepMs: 25, whiteSdMs: 0.2 },
      drift: { sdMs: 2.8, stepS: 4 },
      route: { rangeMs: 10, everyS: 100 },
      tails: [{ share: 0.01, meanMs: 4 }],
      blocks: [{ perS: 0.12, lengthMs: [2, 70], medianMs: 14, spread: 0.6 }],
      loss: { share: 0.001 },
      straggler: { share: 0.003, extraMs: [10, 30] },
    },
  },
  loss2: {
    about: 'calm Wi-Fi with 2 % loss in short bursts',
    impairment: {
      ...calmWifi,
      loss: { burstShare: 0.0065, burstDatagrams: 4, burstLoss: 0.78 },
    },
  },
  bloat: {
    about: 'calm Wi-Fi with a download that fills the buffer: a sawtooth of up to 150 ms',
    impairment: {
      ...calmWifi,
      bloat: {
        onS: [15, 45],
        offS: [17, 44],
        peakMs: [60, 150],
        riseS: [5, 12],
        backOff: 0.65,
        againS: [1.8, 3.2],
        drainS: 1.2,
      },
    },
  },
  handover: {
    about: 'calm Wi-Fi that changes access points every 45 s: 0.3 s outage, 40 % of it lost',
    impairment: {
      ...calmWifi,
      blocks: [...calmWifi.blocks, { perS: 1 / 45, lengthMs: [260, 340], lostShare: 0.4 }],
    },
  },
} as const satisfies Record<string, { about: string; impairment: ImpairmentInput }>;

export type ProfileName = keyof typeof PROFILES;
export const PROFILE_NAMES = Object.keys(PROFILES) as ProfileName[];
