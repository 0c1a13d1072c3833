import { TeleopError } from '../../core/errors.ts';
import type { CanBackend } from './can.ts';
import { damiaoSerialBackend } from './damiao-serial.ts';
import { slcanBackend } from './slcan.ts';
import { socketcanBackend } from './socketcan.ts';

/**
 * Opens a bus by its setting: `socketcan:can0`, `slcan:/dev/ttyACM0`, or `damiao:/dev/ttyACM0` for Damiao's
 * adapter. The bit rates are for SLCAN only.
 */
export const CAN_NAME = /^(socketcan|slcan|damiao):(.+)$/;

export function canBackend(name: string, bitrate: number, dataBitrate?: number): CanBackend {
  const [, kind, target = ''] = CAN_NAME.exec(name) ?? [];
  const fd = dataBitrate === undefined ? {} : { dataBitrate };
  if (kind === 'slcan') return slcanBackend({ path: target, bitrate, ...fd });
  if (kind === 'socketcan') return socketcanBackend(target);
  if (kind === 'damiao' && dataBitrate === undefined) return damiaoSerialBackend(target);
  if (kind === 'damiao')
    throw new TeleopError('bad-config', 'Damiao’s serial adapter does not support CAN FD', {
      hint: 'Set `fd: false`, and the motors to 1 Mbit/s; or use another adapter.',
    });
  throw new TeleopError('bad-config', `"${name}" is not a CAN bus`, {
    hint: 'Write socketcan:can0, slcan:/dev/ttyACM0 or damiao:/dev/ttyACM0.',
  });
}
