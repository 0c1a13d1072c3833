import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../core/errors.ts';

export interface WholeOptions {
  /**
   * Permissions from the first byte on. By default an existing file keeps its own, and a new one gets 0644.
   */
  mode?: number;
  /** Creates missing parent folders, with these permissions. */
  folderMode?: number;
  /** False: an existing file is an error. */
  replace?: boolean;
  /**
   * False: does not wait for the disk. For a thread that must not block; a power loss may then lose the file.
   */
  durable?: boolean;
  /** Further advice for the user, after the remedy for the cause. */
  hint?: string;
}

/** For keys and other files that only their owner may read. */
export const PRIVATE: WholeOptions = { mode: 0o600, folderMode: 0o700 };

/** A file that appears under its name only once it is complete. */
export interface Draft {
  write(data: string | Uint8Array): void;
  /** On disk under its name on return. Throws, with the old file untouched, when that fails. */
  commit(): void;
  /** Removes what was written. No effect after `commit`. */
  discard(): void;
}

/**
 * Writes a file so that a full disk, a crash or a power loss leaves the old content or the new, never a part.
 * Blocking. Throws a `TeleopError` that names the file, the reason and the remedy.
 */
export function writeWhole(file: string, data: string | Uint8Array, options: WholeOptions = {}): void {
  const draft = openDraft(file, options);
  try {
    draft.write(data);
    draft.commit();
  } finally {
    draft.discard();
  }
}

/** The same for a file that is written piece by piece. */
export function openDraft(file: string, options: WholeOptions = {}): Draft {
  const guarded = <T>(operation: () => T): T => {
    try {
      return operation();
    } catch (cause) {
      throw unwritable(file, cause, options.hint);
    }
  };
  const { fd, target, draft } = guarded(() => begin(file, options));
  let isOpen = true;
  const close = () => {
    if (isOpen) closeSync(fd);
    isOpen = false;
  };
  return {
    write: (data) => guarded(() => writeAll(fd, data)),
    commit: () =>
      guarded(() => {
        if (draft === null) return close();
        const { replace, durable } = options;
        if (durable !== false) fsyncSync(fd);
        close();
        if (replace === false) claimName(draft, target);
        else renameSync(draft, target);
        if (durable !== false) syncFolderOf(target);
      }),
    discard() {
      close();
      if (draft !== null) rmSync(draft, { force: true });
    },
  };
}

/** `draft` is null for a device or a pipe: those are written to, not replaced. */
function begin(
  file: string,
  { mode, folderMode, replace }: WholeOptions,
): { fd: number; target: string; draft: string | null } {
  if (folderMode !== undefined) makeFolder(path.dirname(file), folderMode);
  const target = linkTarget(file);
  const old = lstatSync(target, { throwIfNoEntry: false });
  if (old !== undefined && replace === false) throw existsAlready(target);
  if (old?.isDirectory()) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' });
  if (old !== undefined && !old.isFile()) return { fd: openSync(target, 'w'), target, draft: null };
  const draft = path.join(
    path.dirname(target),
    `.${path.basename(target)}.${randomBytes(6).toString('hex')}.tmp`,
  );
  const fd = openSync(draft, 'wx', mode ?? (old === undefined ? 0o644 : old.mode & 0o777));
  if (old !== undefined) inherit(fd, old, mode);
  return { fd, target, draft };
}

/** Node's recursive `mkdir` reports a read-only disk as ENOENT; a plain one reports the cause. */
function makeFolder(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { recursive: true, mode });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    let missing = folder;
    while (!existsSync(path.dirname(missing))) missing = path.dirname(missing);
    mkdirSync(missing, { mode });
    mkdirSync(folder, { recursive: true, mode });
  }
}

/** The file behind a symbolic link is replaced, not the link. */
export function linkTarget(file: string): string {
  let target = file;
  for (let links = 0; lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink(); links++) {
    if (links === 40) throw Object.assign(new Error('too many symbolic links'), { code: 'ELOOP' });
    target = path.resolve(path.dirname(target), readlinkSync(target));
  }
  return target;
}

/** Permissions regardless of the umask, and for root the owner: `sudo` must not take over a user's file. */
function inherit(fd: number, old: Stats, mode: number | undefined): void {
  try {
    if (process.getuid?.() === 0) fchownSync(fd, old.uid, old.gid);
    if (mode === undefined) fchmodSync(fd, old.mode & 0o777);
  } catch {
    // Not every file system has owners and permissions; the content matters more.
  }
}

function writeAll(fd: number, data: string | Uint8Array): void {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

/** A link, unlike a rename, fails when another process took the name meanwhile. */
function claimName(draft: string, target: string): void {
  try {
    linkSync(draft, target);
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(code)) throw cause;
    // A file system without links.
    if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) throw existsAlready(target);
    renameSync(draft, target);
  }
}

const existsAlready = (file: string): Error => Object.assign(new Error(`${file} exists`), { code: 'EEXIST' });

/** A name in a folder survives a power loss only after this. */
export function syncFolderOf(file: string): void {
  let fd = -1;
  try {
    fd = openSync(path.dirname(file), 'r');
    fsyncSync(fd);
  } catch (cause) {
    // Not possible on Windows, some network file systems, and folders that are writable but not readable.
    const { code = '' } = cause as NodeJS.ErrnoException;
    if (!['EACCES', 'EPERM', 'EINVAL', 'EISDIR', 'ENOTSUP', 'EOPNOTSUPP'].includes(code)) throw cause;
  } finally {
    if (fd >= 0) closeSync(fd);
  }
}

const REMEDIES: Record<string, readonly [why: string, remedy: string]> = {
  ENOSPC: ['the disk is full', 'Free space on the disk and try again.'],
  EDQUOT: ['the disk quota is used up', 'Free space and try again.'],
  EROFS: ['the file system is read-only', 'Choose a writable folder.'],
  EACCES: ['permission denied', 'Give this user write access to the folder (`ls -ld` shows its owner).'],
  EPERM: ['permission denied', 'Give this user write access to the folder (`ls -ld` shows its owner).'],
  ENOENT: ['its folder does not exist', 'Create the folder first.'],
  ENOTDIR: ['its folder is a file', 'Choose another folder.'],
  EISDIR: ['it is a folder', 'Name a file.'],
  EMFILE: ['too many open files', 'Raise the limit with `ulimit -n 4096` and try again.'],
};

/** Translates a file-system error into words; anything else passes unchanged. */
export function unwritable(file: string, cause: unknown, hint = ''): unknown {
  const { code: given, syscall } = (cause ?? {}) as NodeJS.ErrnoException;
  const code = given === 'EEXIST' && syscall === 'mkdir' ? 'ENOTDIR' : given;
  if (cause instanceof TeleopError || typeof code !== 'string') return cause;
  if (code === 'EEXIST')
    return new TeleopError('file-unwritable', `${file} already exists`, {
      hint: 'Choose another name, or delete it if it is no longer needed.',
      cause,
    });
  const [why, remedy] = REMEDIES[code] ?? [(cause as Error).message, 'Check the disk and the folder.'];
  return new TeleopError('file-unwritable', `${file} cannot be written: ${why} (${code})`, {
    hint: `${remedy} ${hint}`.trim(),
    cause,
  });
}
