import { TeleopError } from '../../core/errors.ts';
import { closest } from '../../core/suggest.ts';
import type { PlayoutMode } from '../../messages/playout-request.ts';
import { PRESET_NAMES, type Preset } from './adaptive/parameters.ts';
import type { PriorJson } from './adaptive/prior.ts';
import { AdaptivePolicy } from './adaptive.ts';
import { fixedPolicy } from './fixed.ts';
import { NeteqPolicy } from './neteq.ts';
import { nonePolicy } from './none.ts';
import { Rfc3550Policy } from './rfc3550.ts';

/** When a command is to be applied. Sans-I/O: the same object serves the live robot and a replay. */
export interface PlayoutPolicy {
  readonly name: string;
  /**
   * Due time on the robot's clock. `sampledRobotNs` is when the hand was sampled, on that clock, NaN until the first
   * clock offset. May be in the past: the command is then late and released at once. Hot path.
   * Call it once per command not seen before, in the order of arrival; commands of one packet in the order of
   * their stamps. `syncEpoch` makes a new clock relation explicit where the wire carries it.
   */
  schedule(sampledRobotNs: number, receivedNs: number, syncEpoch?: number): number;
  /**
   * What the operator asks for: a quality and a cap of the delay above the floor, null for no wish. The robot's own
   * cap stays the limit. The delay in force moves there by time warp.
   */
  request?(quality: Preset | null, capMs: number | null): void;
  /** Another way of playout, where this is a choice of several; null goes back to the robot's own. */
  choose?(mode: PlayoutMode | null): void;
  /**
   * A new peer: forget the clock relation. Without `prior` keep what was learnt about the network; with one begin
   * from it, null being a network never seen.
   */
  restart?(prior?: PriorJson | null): void;
  /** For telemetry. Delay of the newest command after its stamp; NaN before the first. */
  readonly delayNs?: number;
  /** Least apparent delay of late, the clock error included; NaN before the first stamp. */
  readonly floorNs?: number;
  /** Wait above the floor that the policy holds to be needed. */
  readonly needNs?: number;
  /** What the next session on this network should begin with; the caller keeps it. */
  exportPrior?(): PriorJson;
}

export interface PolicyOptions {
  /** What `exportPrior` returned in an earlier session on the same network. */
  prior?: PriorJson | undefined;
}

/** Policies as a user writes them, with what they do. */
export const POLICY_TEXTS = [
  ['adaptive', 'follows the link: just enough delay that no second is felt to stutter'],
  ['adaptive:smooth', 'the same, with more delay and less jitter'],
  ['adaptive:fast', 'the same, with less delay and a stutter now and then'],
  ['fixed:<ms>', 'a constant delay after the tick'],
  ['none', 'apply on arrival'],
  ['rfc3550', 'mean + 4 × interarrival jitter, a baseline'],
  ['neteq', 'a delay histogram as in WebRTC, a baseline'],
] as const;

const MAX_FIXED_MS = 1000;
export const MIN_CAP_MS = 5;
export const MAX_CAP_MS = 400;

/** The policy a text names: see `POLICY_TEXTS`; `adaptive` also takes `,cap=<ms>`. */
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
  { prior }: PolicyOptions,
): AdaptivePolicy {
  if (capText === undefined) return new AdaptivePolicy({ preset, prior });
  const capMs = Number(capText);
  if (capMs < MIN_CAP_MS || capMs > MAX_CAP_MS)
    throw new TeleopError('bad-config', `"${text}": the cap is not from ${MIN_CAP_MS} to ${MAX_CAP_MS} ms`, {
      hint: 'Use robot.playout=adaptive,cap=80, or leave the cap out.',
    });
  return new AdaptivePolicy({ preset, prior, capMs });
}

function notAPolicy(text: string): TeleopError {
  const near = closest(text, ['none', 'fixed:60', 'rfc3550', 'neteq', 'adaptive', ...PRESETS_AS_TEXT]);
  const known = POLICY_TEXTS.map(([name]) => name).join(', ');
  return new TeleopError('bad-config', `"${text}" is not a playout policy`, {
    hint: `${near ? `Did you mean ${near}? ` : ''}There are ${known} (at most ${MAX_FIXED_MS} ms).`,
  });
}

const PRESETS_AS_TEXT = PRESET_NAMES.map((name) => `adaptive:${name}`);
