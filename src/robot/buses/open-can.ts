import { TeleopError } from '../../core/errors.ts';
import type { CanBackend } from './can.ts';
import { slcanBackend } from './slcan.ts';
import { socketcanBackend } from './socketcan.ts';

/** A bus as a setting names it: `socketcan:can0` or `slcan:/dev/ttyACM0`. The bit rate is for SLCAN only. */
export const CAN_NAME = /^(socketcan|slcan):(.+)$/;

export function canBackend(name: string, bitrate: number): CanBackend {
  const [, kind, target = ''] = CAN_NAME.exec(name) ?? [];
  if (kind === 'slcan') return slcanBackend({ path: target, bitrate });
  if (kind === 'socketcan') return socketcanBackend(target);
  throw new TeleopError('bad-config', `"${name}" is not a CAN bus`, {
    hint: 'Write socketcan:can0 or slcan:/dev/ttyACM0.',
  });
}
