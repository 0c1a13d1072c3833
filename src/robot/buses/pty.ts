import { readSync, writeSync } from 'node:fs';
import { TeleopError } from '../../core/errors.ts';
import { type BusLibc, errnoText, loadBusLibc } from './libc.ts';

const O_RDWR = 0o2;
const O_NOCTTY = 0o400;
const O_NONBLOCK = 0o4000;
const TCSANOW = 0;
/** Larger than struct termios of any libc. */
const TERMIOS_BYTES = 128;

/** The device end of a pseudo-terminal: a serial port without hardware. The other end is opened by path. */
export interface Pty {
  readonly path: string;
  readonly fd: number;
  /** Bytes read into `into`; 0 if there are none or the other end is closed. Never waits. */
  read(into: Uint8Array): number;
  /** Bytes accepted; fewer when the other end does not read. Never waits. */
  write(bytes: Uint8Array, length: number): number;
  /** The other end sees its device vanish. */
  close(): void;
}

/** `blocking`: reads wait, for a dedicated thread. */
export async function openPty({ blocking = false } = {}): Promise<Pty> {
  const libc = await loadBusLibc();
  const fd = libc.posix_openpt(O_RDWR | O_NOCTTY | (blocking ? 0 : O_NONBLOCK));
  if (fd < 0 || libc.grantpt(fd) !== 0 || libc.unlockpt(fd) !== 0)
    throw new TeleopError('bus-failed', `cannot open a pseudo-terminal: ${errnoText(libc.errno())}`, {
      hint: 'Check that /dev/ptmx and /dev/pts exist and that this user may open them.',
    });
  makeRaw(libc, fd);
  const name = new Uint8Array(128);
  libc.ptsname_r(fd, name, name.length);
  return {
    path: Buffer.from(name.subarray(0, name.indexOf(0))).toString('latin1'),
    fd,
    read: (into) => unlessBusy(() => readSync(fd, into)),
    write: (bytes, length) => unlessBusy(() => writeSync(fd, bytes, 0, length)),
    close: () => libc.close(fd),
  };
}

/** Otherwise the terminal echoes and translates bytes until the other end is configured. */
function makeRaw(libc: BusLibc, fd: number): void {
  const settings = new Uint8Array(TERMIOS_BYTES);
  libc.tcgetattr(fd, settings);
  libc.cfmakeraw(settings);
  libc.tcsetattr(fd, TCSANOW, settings);
}

/** EAGAIN: nothing to read, or no room. EIO: the other end is closed. */
function unlessBusy(work: () => number): number {
  try {
    return work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EAGAIN' || code === 'EIO') return 0;
    throw error;
  }
}
