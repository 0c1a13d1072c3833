import { TeleopError } from '../core/errors.ts';
import { closest } from '../core/suggest.ts';
import { PROFILE_NAMES } from '../wire/emulator/profiles.ts';
import { loopback, openNamespaces, type Place } from './place.ts';

export interface CheckLink {
  place: Place;
  /** Link profile of the emulator, or null. */
  profile: string | null;
  /** Describes the path between the roles. */
  about: string;
}

const KINDS = ['local', 'wired', 'wireless'];
const WIRELESS = 'wifi';

export const KIND_USAGE = 'local|wired|wireless|profile:<name>';

/** Opens the path of a kind of check; call `close` on its place when done. */
export function openLink(kind: string, robotHost: string | null): CheckLink {
  const profile = kind.startsWith('profile:') ? kind.slice('profile:'.length) : null;
  if (profile !== null) return emulated(profile, robotHost);
  if (!KINDS.includes(kind)) throw unknown(kind);
  if (robotHost !== null) {
    if (kind !== 'local') return { place: loopback, profile: null, about: `${kind} link to ${robotHost}` };
    throw new TeleopError('bad-option', 'local checks this machine only, but --robot names another', {
      hint: 'Use `farhand check wired --robot HOST` or `farhand check wireless --robot HOST`.',
    });
  }
  if (kind === 'wireless') return emulated(WIRELESS, null);
  if (kind === 'local') return { place: loopback, profile: null, about: 'loopback of this machine' };
  const place = openNamespaces();
  if (typeof place !== 'string')
    return { place, profile: null, about: 'two network namespaces of this machine, joined by a veth pair' };
  throw new TeleopError('bad-option', `there is no wire to check: ${place}`, {
    hint: 'Run as root to create two network namespaces joined by a virtual cable; or use --robot HOST for a real robot, or `farhand check profile:ethernet` for an emulated wire.',
  });
}

function emulated(profile: string, robotHost: string | null): CheckLink {
  if (!(PROFILE_NAMES as readonly string[]).includes(profile)) {
    const near = closest(profile, PROFILE_NAMES);
    throw new TeleopError('bad-option', `there is no link profile "${profile}"`, {
      hint: `${near ? `Did you mean profile:${near}? ` : ''}Profiles: ${PROFILE_NAMES.join(', ')}.`,
    });
  }
  const where = robotHost === null ? 'on this machine' : `in front of ${robotHost}`;
  return { place: loopback, profile, about: `emulated link "${profile}" ${where}` };
}

function unknown(kind: string): TeleopError {
  const near = closest(kind, KINDS);
  return new TeleopError('bad-option', `there is no check "${kind}"`, {
    hint: near ? `Did you mean ${near}?` : `Use one of ${KIND_USAGE}.`,
  });
}
