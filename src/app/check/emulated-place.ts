import { openDeviceNamespaces, type Place } from '../../check/place.ts';
import { TeleopError } from '../../core/errors.ts';
import type { LinkStats } from '../../wire/emulator/stats.ts';
import { TUN_MTU } from '../../wire/transports/tun.ts';
import { startLinkEmulator } from '../link-emulator.ts';

export interface EmulatedPlace extends Omit<Place, 'close'> {
  /** Begins the weather anew. */
  restart(): Promise<void>;
  close(): Promise<LinkStats>;
}

let opened = 0;

/**
 * Two network namespaces joined by the link emulator packet by packet, so that the kernel's TCP meets the delays and
 * losses of the profile as UDP does, with its own retransmission. The same seed gives every transport the same
 * weather. Needs root.
 */
export async function openEmulatedPlace(profile: string, seed: number): Promise<EmulatedPlace> {
  const own = `${process.pid}x${opened++ % 100}`;
  const devices = [`fht${own}`, `fhr${own}`] as const;
  const link = await startLinkEmulator({ profile, seed, devices, mappings: [] });
  const place = openDeviceNamespaces(`emulated link ${profile}`, devices, TUN_MTU);
  if (typeof place === 'string') {
    await link.close();
    throw new TeleopError('bad-option', `no emulated link for TCP: ${place}`, {
      hint: 'Run as root: TCP needs two network namespaces with the emulator between them. Or compare over local.',
    });
  }
  return {
    ...place,
    restart: () => link.set(profile),
    async close() {
      const stats = await link.close();
      place.close();
      return stats;
    },
  };
}
