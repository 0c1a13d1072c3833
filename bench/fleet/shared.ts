/** A share of a run: robots or operators of one thread. */
export interface Share {
  url: string;
  /** Folder of the credentials: `<name>.creds`. */
  folder: string;
  /** Number of the first robot of the share. */
  first: number;
  robots: number;
}

/** Robots are a group, so that one permission covers them. */
export const robotName = (n: number): string => `bench/sim-${n}`;
export const robotUser = (n: number): string => `sim-${n}`;
export const operatorUser = (n: number): string => `person-${n}`;

const AT_ONCE = 32;
const TRIES = 6;

/** Runs `make` for each number, some at a time. A busy server may miss its own deadline: tries again. */
export async function many<T>(first: number, count: number, make: (n: number) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  let next = 0;
  const work = async () => {
    for (let n = next++; n < count; n = next++)
      for (let left = TRIES; ; left--)
        try {
          made[n] = await make(first + n);
          break;
        } catch (error) {
          if (left === 1) throw error;
        }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, work));
  return made;
}

/** What a thread reports when the time is over. */
export interface RobotsDone {
  sent: number;
  ended: number;
  memoryMb: number;
}

export interface OperatorsDone {
  renewMs: number[];
  signalMs: number[];
  /** Requests that got no answer, or were rejected. */
  lost: number;
  leasesLost: number;
  /** Why, for the first few. */
  reasons: string[];
}
