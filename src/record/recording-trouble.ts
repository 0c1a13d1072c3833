import { TeleopError } from '../core/errors.ts';

export const deleted = (file: string): TeleopError =>
  new TeleopError('recording-stopped', `Cannot continue recording: ${file} was deleted`, {
    hint: 'Keep the folder in place while recording, and start again.',
  });

export const noRoom = (dir: string): TeleopError =>
  new TeleopError('recording-stopped', `Cannot start a recording in ${dir}: the disk is nearly full`, {
    hint: 'Free some disk space, choose another folder with record.dir=FOLDER, or lower record.minFreeMb.',
  });

/** An operation of the file system that failed, as it concerns a person who records. */
export function recordingStopped(what: string, dir: string, cause: NodeJS.ErrnoException): TeleopError {
  if (cause instanceof TeleopError) return cause;
  const full = cause.code === 'ENOSPC' || cause.code === 'EDQUOT' || cause.code === 'EFBIG';
  const why = full ? 'the disk is full' : cause.message;
  return new TeleopError('recording-stopped', `Cannot ${what} in ${dir}: ${why}`, {
    hint: full
      ? 'Free some disk space, or choose another folder: record.dir=FOLDER.'
      : 'Check that the disk is mounted and the folder writable, or choose another folder: record.dir=FOLDER.',
    cause,
  });
}
