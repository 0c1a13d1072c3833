import type { ChildMessage } from '../app/child.ts';

/** Calls `end` on Ctrl-C, SIGTERM, or when the process that started us is gone. */
export function onEndRequest(end: () => void): void {
  // Ctrl-C reaches every process of a terminal; whoever started us ends us in its own order.
  process.on('SIGINT', process.connected ? () => {} : end);
  process.on('SIGTERM', end);
  process.on('disconnect', end);
}

/** Sends to the process that started us with a channel; does nothing otherwise. Resolves when it is on its way. */
export function parentChannel(): (message: unknown) => Promise<void> {
  return (message) =>
    new Promise((resolve) => {
      if (process.send && process.connected)
        process.send(message as ChildMessage, undefined, undefined, () => resolve());
      else resolve();
    });
}
