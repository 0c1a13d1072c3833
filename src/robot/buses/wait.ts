/** A robot procedure failed; the message is for the operator. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

const POLL_MS = 5;

/** Waits for `reached`; rejects with `why` after `timeoutMs`, or at once when aborted. */
export function until(
  reached: () => boolean,
  timeoutMs: number,
  why: () => string,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = Math.ceil(timeoutMs / POLL_MS);
    const look = () => {
      if (signal.aborted) reject(new Refused('interrupted'));
      else if (reached()) resolve();
      else if (left-- <= 0) reject(new Refused(why()));
      else setTimeout(look, POLL_MS);
    };
    look();
  });
}

/** Rejects with `why` when `work` takes longer than `timeoutMs`. */
export async function within<T>(work: Promise<T>, timeoutMs: number, why: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Refused(why)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
