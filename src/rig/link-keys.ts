import { TeleopError } from '../core/errors.ts';
import { isLoopback } from '../core/loopback.ts';
import type { Role } from '../messages/role-flags.ts';
import { keyFolder, keyId, keyPath, listKeys, readKeyFile } from '../wire/secure/key-file.ts';
import type { Rig } from './rig.ts';

/** The keys a role may use; none on a plain link, which must be explicit and stay on this machine. */
export function linkKeys(role: Role, rig: Rig): Uint8Array[] {
  const { security, keyFile } = rig.link;
  refuseWebrtc(rig);
  refusePlain(role, rig);
  if (security === 'plain') return [];
  if (keyFile !== '')
    return [readKeyFile(/[\\/]/.test(keyFile) ? keyFile : keyPath(keyFolder(), keyFile)).key];
  const usable = listKeys(keyFolder()).filter((entry) => entry.problem === null);
  if (usable.length === 0)
    throw new TeleopError('key-missing', `this ${role} is not paired with any machine`, {
      hint: 'Run `farhand pair` on both machines. On a single machine, use link.security=plain.',
    });
  if (role === 'operator' && usable.length > 1)
    throw new TeleopError('bad-config', `there are ${usable.length} paired robots`, {
      hint: `Name one: link.keyFile=${usable.map((entry) => entry.name).join(' or link.keyFile=')}`,
    });
  return usable.map((entry) => readKeyFile(entry.path).key);
}

/** Ids of the keys whose machines may only watch and stop this robot. */
export function viewerKeys({ link }: Rig): string[] {
  if (link.security === 'plain' || /[\\/]/.test(link.keyFile)) return [];
  return listKeys(keyFolder())
    .filter(({ name, role }) => role === 'viewer' && (link.keyFile === '' || link.keyFile === name))
    .map(({ id }) => id!);
}

/** The keys of a robot, with what they allow: to notice that one was removed, replaced or changed. */
export const pairings = (rig: Rig): string[] => {
  const viewers = viewerKeys(rig);
  return linkKeys('robot', rig)
    .map(keyId)
    .map((id) => `${id} ${viewers.includes(id)}`);
};

/** Whether all of these pairings are still there and unchanged. Reads files. */
export function areStillPaired(rig: Rig, before: readonly string[]): boolean {
  try {
    const now = pairings(rig);
    return before.every((each) => now.includes(each));
  } catch (error) {
    if (error instanceof TeleopError) return false;
    throw error;
  }
}

/** A plain link must stay on this machine. The link of a fleet is never plain. */
export function refusePlain(role: Role, { link }: Rig): void {
  const host = role === 'robot' ? link.listenHost : link.robotHost;
  if (link.security !== 'plain' || link.transport === 'webrtc' || isLoopback(host)) return;
  throw new TeleopError('not-loopback', `a plain link is for loopback only, not for ${host}`, {
    hint: 'Pair the two machines (`farhand pair`) and leave link.security at its default.',
  });
}

/** Only a fleet can open a peer connection. */
export function refuseWebrtc({ link }: Rig): void {
  if (link.transport !== 'webrtc') return;
  throw new TeleopError('bad-config', 'link.transport=webrtc needs a fleet', {
    hint: 'Run `farhand robot --fleet URL --creds FILE` and `farhand fleet operate ROBOT`, or use link.transport=udp on one network.',
  });
}

/** Whether this machine has any key. */
export const isPaired = (): boolean => listKeys(keyFolder()).some((entry) => entry.problem === null);
