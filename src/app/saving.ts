import { readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Without progress for this long, a file is given up. */
export const STUCK_S = 30;
const POLL_MS = 250;
const FIRST_LINE_S = 1;
/** Well within what a process that waits for this one allows for silence. */
const LINE_S = 2;

/** What saving a file looks like from outside, and what passes time. */
export interface SavingParts {
  /** Grows as long as anything comes of it. */
  progress(): number;
  sizeBytes(): number;
  nowS(): number;
  pause(): Promise<void>;
  /** Every now and then, for people. */
  say(text: string): void;
}

/**
 * Waits until a file is saved, for as long as it makes progress. True: it is. False: nothing moved for `STUCK_S`. A slow
 * disk may need minutes for what the system still holds in memory.
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

/** Of a real file. What its disk writes counts as progress as well: the last step is to wait for that. */
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

/** As Linux numbers it; a file system without a disk of its own has major number 0. */
function diskOf(file: string): { major: number; minor: number } {
  const { dev = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
  return { major: (dev >> 8) & 0xfff, minor: (dev & 0xff) | ((dev >> 12) & 0xfff00) };
}

/** Sectors written to the disk so far, or pages to all disks where it is not known which; 0 where nothing is. */
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

/** The files a process saves as it ends. */
export class Saving {
  readonly files: string[] = [];
  /** Of those that were given up, in words. */
  readonly givenUp: string[] = [];
  readonly #say: (text: string) => void;

  constructor(say: (text: string) => void) {
    this.#say = say;
  }

  /** What `saved` resolves to, or null where it got stuck. An empty name: there is no file. */
  async wait<T>(file: string, saved: Promise<T>, remedy: string): Promise<T | null> {
    if (file === '') return saved;
    this.files.push(file);
    const isSaved = await savedWhileMoving(saved, file, savingOf(file, this.#say));
    if (isSaved) {
      this.files.splice(this.files.indexOf(file), 1);
      return saved;
    }
    this.givenUp.push(`${file} was not finished: nothing moved for ${STUCK_S} s. ${remedy}`);
    return null;
  }
}
