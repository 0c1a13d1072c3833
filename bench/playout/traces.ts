import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Random } from '../../src/core/random.ts';
import { packageRoot } from '../../src/files/package-root.ts';
import { type DelayTrace, parseDelayTrace } from '../../src/robot/playout/replay/trace.ts';
import { type ImpairmentInput, impairmentSchema } from '../../src/wire/emulator/impairment.ts';
import { LinkModel } from '../../src/wire/emulator/link-model.ts';
import { PROFILES, type ProfileName } from '../../src/wire/emulator/profiles.ts';

const FOLDER = path.join(packageRoot, 'test', 'data', 'delay-traces');
const COMMANDS = 60_000;
const PERIOD_NS = 1e7;
const DATAGRAM_BYTES = 200;

export function publicTraces(): DelayTrace[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.csv.gz'))
    .sort()
    .map((name) => publicTrace(name.replace('.csv.gz', '')));
}

export function publicTrace(name: string): DelayTrace {
  const text = gunzipSync(readFileSync(path.join(FOLDER, `${name}.csv.gz`))).toString('utf8');
  return parseDelayTrace(text, name);
}

const bursts = { loss: { burstShare: 0.0065, burstDatagrams: 4, burstLoss: 0.78 } };

/** Links that lose packets: 2 % in bursts, or 5 % at random. */
export const LOSSY = {
  loss2: { profile: 'loss2', extra: {} },
  'loss2, 5 % random': { profile: 'loss2', extra: { loss: { share: 0.05 } } },
  'wifi + 2 %': { profile: 'wifi', extra: bursts },
  'wifi-untuned + 2 %': { profile: 'wifi-untuned', extra: bursts },
  '5g + 5 % random': { profile: '5g', extra: { loss: { share: 0.05 } } },
} as const satisfies Record<string, { profile: ProfileName; extra: ImpairmentInput }>;

export function lossyTrace(name: keyof typeof LOSSY, seed: number): DelayTrace {
  const { profile, extra } = LOSSY[name];
  return emulatedTrace(profile, seed, extra);
}

/** Ten minutes at 100 Hz over the link emulator, whose models do not depend on the policy. */
export function emulatedTrace(profile: ProfileName, seed: number, extra: ImpairmentInput = {}): DelayTrace {
  const settings = {
    label: profile,
    impairment: impairmentSchema.parse({ ...PROFILES[profile].impairment, ...extra }),
    events: [],
    trace: null,
    tracePhaseNs: 0,
  };
  const link = new LinkModel(settings, seed, 'forward', 0);
  const ticks = new Random(seed, 'ticks');
  const trace: DelayTrace = {
    name: profile,
    count: COMMANDS,
    sendUs: new Float64Array(COMMANDS),
    delayUs: new Float64Array(COMMANDS),
    clockMs: new Float64Array(COMMANDS).fill(Number.NaN),
  };
  for (let i = 0; i < COMMANDS; i++) {
    const sentNs = (i + 2) * PERIOD_NS + Math.abs(ticks.normal()) * 0.1e6;
    const outNs = link.admit(sentNs, DATAGRAM_BYTES);
    trace.sendUs[i] = Math.round(sentNs / 1000);
    trace.delayUs[i] = outNs === null ? Number.NaN : Math.round((outNs - sentNs) / 1000);
  }
  return trace;
}
