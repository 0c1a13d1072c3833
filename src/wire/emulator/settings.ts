import { z } from 'zod';
import { type ConfigLayer, type ConfigTree, resolveConfig } from '../../core/config.ts';
import { TeleopError } from '../../core/errors.ts';
import { closest } from '../../core/suggest.ts';
import { type LinkEvent, type LinkEventInput, linkEventSchema } from './events.ts';
import { type ImpairmentInput, impairmentSchema } from './impairment.ts';
import type { DirectionSettings } from './link-model.ts';
import { PROFILE_NAMES, PROFILES, type ProfileName } from './profiles.ts';
import type { TraceTable } from './trace-table.ts';

/** Requested link: a profile or a trace, adjusted. Default: the profile `off`. */
export interface LinkRequest {
  profile?: string;
  /** Recorded delays instead of a profile. */
  trace?: { name: string; table: TraceTable };
  /** Profile for the answers. Default: the same profile; with a trace, the same trace half a period later. */
  returnProfile?: string;
  /** Adjustments per direction, on top. */
  forward?: ImpairmentInput;
  return?: ImpairmentInput;
  events?: readonly LinkEventInput[];
}

/** Validates a request and resolves it to [forward, return]. Throws `bad-option`. */
export function resolveLink(request: LinkRequest): [DirectionSettings, DirectionSettings] {
  const { trace, profile, returnProfile } = request;
  if (trace !== undefined && profile !== undefined)
    throw new TeleopError('bad-option', 'a link takes a profile or a trace, not both', {
      hint: 'Remove one of them; a return profile can set the answers separately.',
    });
  const events = z.array(linkEventSchema).safeParse(request.events ?? []);
  if (!events.success) {
    const issue = events.error.issues[0]!;
    throw new TeleopError('bad-option', `event ${issue.path.join('.')}: ${issue.message}`, {
      hint: 'An event is {"kind":"hole","atMs":5000,"forMs":300}; see docs/link-emulator.md.',
    });
  }
  const forward = direction('forward', profile ?? 'off', request.forward, events.data);
  const back = direction('return', returnProfile ?? profile ?? 'off', request.return, events.data);
  if (trace !== undefined) {
    Object.assign(forward, { label: `trace ${trace.name}`, trace: trace.table });
    if (returnProfile === undefined)
      Object.assign(back, {
        label: `trace ${trace.name}, half a period later`,
        trace: trace.table,
        tracePhaseNs: trace.table.periodNs / 2,
      });
  }
  return [forward, back];
}

function direction(
  name: 'forward' | 'return',
  profile: string,
  changes: ImpairmentInput | undefined,
  events: readonly LinkEvent[],
): DirectionSettings {
  const layers: ConfigLayer[] = [
    { source: `profile ${profile}`, values: profileOf(profile) as ConfigTree },
    { source: `${name} settings`, values: (changes ?? {}) as ConfigTree },
  ];
  const changed = Object.keys(changes ?? {}).length > 0;
  return {
    label: changed ? `${profile}, changed` : profile,
    impairment: impairmentOf(layers),
    events: events.filter((event) => event.direction === name || event.direction === 'both'),
    trace: null,
    tracePhaseNs: 0,
  };
}

function impairmentOf(layers: readonly ConfigLayer[]): DirectionSettings['impairment'] {
  try {
    return resolveConfig(impairmentSchema, layers).config;
  } catch (error) {
    if (!(error instanceof TeleopError)) throw error;
    const hint = error.message.startsWith('unknown')
      ? error.hint
      : 'See docs/link-emulator.md for all settings.';
    throw new TeleopError('bad-option', error.message, { hint, cause: error });
  }
}

function profileOf(name: string): ImpairmentInput {
  if (Object.hasOwn(PROFILES, name)) return PROFILES[name as ProfileName].impairment;
  const near = closest(name, PROFILE_NAMES);
  throw new TeleopError('bad-option', `there is no link profile "${name}"`, {
    hint: `${near ? `Did you mean "${near}"? ` : ''}Available: ${PROFILE_NAMES.join(', ')}.`,
  });
}
