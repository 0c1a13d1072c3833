import { TeleopError } from '../../core/errors.ts';
import { closest } from '../../core/suggest.ts';
import { PRESET_NAMES, type Preset } from './adaptive/parameters.ts';
import type { PriorJson } from './adaptive/prior.ts';
import { AdaptivePolicy } from './adaptive.ts';
import { fixedPolicy } from './fixed.ts';
import { NeteqPolicy } from './neteq.ts';
import { nonePolicy } from './none.ts';
import type { PlayoutPolicy, Redundancy } from './playout-policy.ts';
import { Rfc3550Policy } from './rfc3550.ts';

export interface PolicyOptions {
  /** What `exportPrior` returned in an earlier session on the same network. */
  prior?: PriorJson | undefined;
  /** Commands that each packet repeats. A fixed number is a request to repair every loss, whatever the delay. */
  redundancy?: Redundancy;
}

/** Policy names as a user writes them, with descriptions. */
export const POLICY_TEXTS = [
  ['adaptive', 'follows the link: just enough delay that no second stutters noticeably'],
  ['adaptive:smooth', 'the same, with more delay and less jitter'],
  ['adaptive:fast', 'the same, with less delay and occasional stutter'],
  ['fixed:<ms>', 'a constant delay after the hand sample'],
  ['none', 'apply on arrival'],
  ['rfc3550', 'mean + 4 × interarrival jitter, a baseline'],
  ['neteq', 'a delay histogram as in WebRTC, a baseline'],
] as const;

const MAX_FIXED_MS = 1000;
export const MIN_CAP_MS = 5;
export const MAX_CAP_MS = 400;

/** Creates a policy from its name: see `POLICY_TEXTS`; `adaptive` also takes `,cap=<ms>`. */
export function createPolicy(text: string, options: PolicyOptions = {}): PlayoutPolicy {
  if (text === 'none') return nonePolicy();
  if (text === 'rfc3550') return new Rfc3550Policy();
  if (text === 'neteq') return new NeteqPolicy();
  const fixedMs = /^fixed:(\d+(?:\.\d+)?)$/.exec(text)?.[1];
  if (fixedMs !== undefined && Number(fixedMs) <= MAX_FIXED_MS) return fixedPolicy(Number(fixedMs));
  const [, presetText = 'balanced', capText] = ADAPTIVE.exec(text) ?? [];
  const preset = PRESET_NAMES.find((name) => name === presetText);
  if (!ADAPTIVE.test(text) || preset === undefined) throw notAPolicy(text);
  return adaptiveOf(text, preset, capText, options);
}

const ADAPTIVE = /^adaptive(?::(\w+))?(?:,cap=(\d+(?:\.\d+)?))?$/;

function adaptiveOf(
  text: string,
  preset: Preset,
  capText: string | undefined,
  { prior, redundancy = 'auto' }: PolicyOptions,
): AdaptivePolicy {
  const repair = redundancy === 'auto' || redundancy === 0 ? {} : { repairMs: MAX_CAP_MS };
  if (capText === undefined) return new AdaptivePolicy({ preset, prior, ...repair });
  const capMs = Number(capText);
  if (capMs < MIN_CAP_MS || capMs > MAX_CAP_MS)
    throw new TeleopError('bad-config', `"${text}": the cap must be ${MIN_CAP_MS} to ${MAX_CAP_MS} ms`, {
      hint: 'Use robot.playout=adaptive,cap=80, or leave the cap out.',
    });
  return new AdaptivePolicy({ preset, prior, capMs, ...repair });
}

function notAPolicy(text: string): TeleopError {
  const near = closest(text, ['none', 'fixed:60', 'rfc3550', 'neteq', 'adaptive', ...PRESETS_AS_TEXT]);
  const known = POLICY_TEXTS.map(([name]) => name).join(', ');
  return new TeleopError('bad-config', `"${text}" is not a playout policy`, {
    hint: `${near ? `Did you mean ${near}? ` : ''}Known policies: ${known} (at most ${MAX_FIXED_MS} ms).`,
  });
}

const PRESETS_AS_TEXT = PRESET_NAMES.map((name) => `adaptive:${name}`);
