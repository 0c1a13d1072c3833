import { TeleopError } from '../../core/errors.ts';

/** What we use of the optional package `serialport`. */
export interface SerialPort {
  readonly isOpen: boolean;
  /** The open binding; on Linux and macOS it has the descriptor, which does not block. */
  readonly port?: { fd?: number | null } | undefined;
  on(event: 'data', listener: (bytes: Uint8Array) => void): unknown;
  on(event: 'error' | 'close', listener: (error: Error) => void): unknown;
  write(bytes: Uint8Array): boolean;
  close(done: () => void): void;
}

/** Opens a serial device raw, 8N1, for this process alone. Rejects with a `TeleopError`. */
export async function openSerial(path: string, baudRate: number): Promise<SerialPort> {
  const { SerialPort: Port } = await load();
  return new Promise((resolve, reject) => {
    const port = new Port({ path, baudRate }, (error) => {
      if (error) reject(cannotOpen(path, error));
      else resolve(port as unknown as SerialPort);
    });
  });
}

async function load(): Promise<typeof import('serialport')> {
  try {
    return await import('serialport');
  } catch (cause) {
    throw new TeleopError('native-unavailable', `serial ports are not available: ${String(cause)}`, {
      hint: 'Install the optional package: `npm install serialport`.',
      cause,
    });
  }
}

function cannotOpen(path: string, cause: Error): TeleopError {
  const missing = /no such file/i.test(cause.message);
  const denied = /permission|access/i.test(cause.message);
  const hint = missing
    ? `Plug the adapter in and look for its name with \`ls /dev/serial/by-id /dev/ttyACM* /dev/ttyUSB*\`.`
    : denied
      ? `Give this user access: \`sudo usermod -aG dialout $USER\`, then log in again.`
      : 'Check that no other program has it open, and that it is a serial device.';
  return new TeleopError('bus-failed', `${path} cannot be opened: ${cause.message}`, { hint, cause });
}
