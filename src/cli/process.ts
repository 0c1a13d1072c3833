import type { ChildMessage } from '../app/child.ts';

/**
 * The only place for signals. The first one, or the end of the process that started us, asks for a clean end. A second one
 * ends this process at once, whatever it hangs on.
 */

/** `npm start` passes on the Ctrl-C that the terminal has sent us already: that is one request. */
const SAME_REQUEST_MS = 100;
/** Whoever started us is gone, so nobody else ends us. */
const ORPHAN_MS = 15_000;

export interface EndOptions {
  /** Files that are still being saved; they are named when they are cut off, and waited for when nobody else would. */
  unfinished?: () => readonly string[];
}

type Handler = EndOptions & { end: () => void };

const handlers: Handler[] = [];
let requestedMs = Number.NaN;

/**
 * Calls `end` on Ctrl-C, SIGTERM, SIGQUIT, a closed terminal, or when the process that started us is gone; at once if
 * that has happened before.
 */
export function onEndRequest(end: () => void, options: EndOptions = {}): void {
  if (handlers.push({ ...options, end }) === 1) listen();
  if (!Number.isNaN(requestedMs)) end();
}

function listen(): void {
  // These reach every process of a terminal; the process that started us ends us in its own order.
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGQUIT'] as const)
    process.on(signal, () => process.connected || onSignal(signal));
  process.on('SIGTERM', () => onSignal('SIGTERM'));
  process.on('disconnect', () => {
    request();
    setTimeout(leaveOrphan, ORPHAN_MS).unref();
  });
}

function onSignal(signal: NodeJS.Signals): void {
  if (performance.now() - requestedMs > SAME_REQUEST_MS) return leave(signal);
  request();
}

function request(): void {
  if (!Number.isNaN(requestedMs)) return;
  requestedMs = performance.now();
  for (const { end } of handlers) end();
}

const unfinished = (): string[] => handlers.flatMap((handler) => handler.unfinished?.() ?? []);

function leaveOrphan(): void {
  if (unfinished().length > 0) setTimeout(leaveOrphan, ORPHAN_MS).unref();
  else leave('SIGTERM');
}

/** By the system's own hand: `process.exit` would wait for a thread that waits for a disk. */
export function leave(signal: NodeJS.Signals): void {
  for (const file of unfinished())
    console.error(
      `farhand: ${file} is unfinished.${file.endsWith('.part') ? ` \`farhand recover ${file}\` finishes it.` : ''}`,
    );
  // Whatever clears up at the end of a process, such as its temporary folders.
  process.emit('exit', 1);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
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
