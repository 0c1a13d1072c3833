import { readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A file without progress for this long is given up. */
export const STUCK_S = 30;
const POLL_MS = 250;
const FIRST_LINE_S = 1;
/** Well below the silence that a parent process allows. */
const LINE_S = 2;

/** What `savedWhileMoving` observes of a file, and its clock. */
export interface SavingParts {
  /** Grows as long as saving makes progress. */
  progress(): number;
  sizeBytes(): number;
  nowS(): number;
  pause(): Promise<void>;
  /** Prints an occasional progress line. */
  say(text: string): void;
}

/**
 * Waits until a file is saved, as long as there is progress. True: saved. False: no progress for `STUCK_S`. A
 * slow disk may need minutes to write what the system still holds in memory.
 */
export async function savedWhileMoving(
  saved: Promise<unknown>,
  file: string,
  parts: SavingParts,
): Promise<boolean> {
  let isSaved = false;
  const over = saved.then(
    () => (isSaved = true),
    () => (isSaved = true),
  );
  const startS = parts.nowS();
  let [movedS, saidS, seen] = [startS, startS + FIRST_LINE_S - LINE_S, parts.progress()];
  for (;;) {
    await Promise.race([over, parts.pause()]);
    if (isSaved) return true;
    const [nowS, progress] = [parts.nowS(), parts.progress()];
    if (progress !== seen) [movedS, seen] = [nowS, progress];
    if (nowS - movedS >= STUCK_S) return false;
    if (nowS - saidS < LINE_S) continue;
    saidS = nowS;
    parts.say(`saving ${file}: ${megabytes(parts.sizeBytes())} MB, for ${Math.round(nowS - startS)} s`);
  }
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);

/** For a real file. Disk writes count as progress as well: the last step waits for them. */
function savingOf(file: string, say: (text: string) => void): SavingParts {
  const sizeBytes = () => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const disk = diskOf(file);
  return {
    progress: () => sizeBytes() + diskWrites(disk),
    sizeBytes,
    nowS: () => performance.now() / 1000,
    pause: () => sleep(POLL_MS),
    say,
  };
}

/** Linux device number; a file system without a disk has major number 0. */
function diskOf(file: string): { major: number; minor: number } {
  const { dev = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
  return { major: (dev >> 8) & 0xfff, minor: (dev & 0xff) | ((dev >> 12) & 0xfff00) };
}

/**
 * Sectors written to the disk so far; pages written to all disks if the disk is unknown; 0 if neither is
 * known.
 */
function diskWrites({ major, minor }: { major: number; minor: number }): number {
  const own = major > 0 ? textOf(`/sys/dev/block/${major}:${minor}/stat`) : '';
  const found =
    own === '' ? /^nr_written (\d+)$/m.exec(textOf('/proc/vmstat'))?.[1] : own.trim().split(/\s+/)[6];
  return Number(found ?? 0);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** Tracks the files that a process saves as it ends. */
export class Saving {
  readonly files: string[] = [];
  /** One message per file that was given up. */
  readonly givenUp: string[] = [];
  readonly #say: (text: string) => void;

  constructor(say: (text: string) => void) {
    this.#say = say;
  }

  /** Resolves like `saved`, or with null when saving is stuck. Empty name: no file. */
  async wait<T>(file: string, saved: Promise<T>, remedy: string): Promise<T | null> {
    if (file === '') return saved;
    this.files.push(file);
    const isSaved = await savedWhileMoving(saved, file, savingOf(file, this.#say));
    if (isSaved) {
      this.files.splice(this.files.indexOf(file), 1);
      return saved;
    }
    this.givenUp.push(`${file} was not finished: no progress for ${STUCK_S} s. ${remedy}`);
    return null;
  }
}
