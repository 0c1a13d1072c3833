import type { ChildMessage } from '../app/child.ts';

/**
 * The only place that handles signals. The first signal, or the end of the parent process, requests a clean end. A second
 * signal ends this process at once, even if it hangs.
 */

/** `npm start` forwards the Ctrl-C that the terminal has already sent us; both count as one request. */
const SAME_REQUEST_MS = 100;
/** How long a process may outlive its parent. */
const ORPHAN_MS = 15_000;

export interface EndOptions {
  /** Files still being saved: reported if the process is killed before they are complete; an orphan waits for them. */
  unfinished?: () => readonly string[];
}

type Handler = EndOptions & { end: () => void };

const handlers: Handler[] = [];
let requestedMs = Number.NaN;

/**
 * Calls `end` on Ctrl-C, SIGTERM, SIGQUIT, a closed terminal, or the end of the parent process; immediately if that has
 * already happened.
 */
export function onEndRequest(end: () => void, options: EndOptions = {}): void {
  if (handlers.push({ ...options, end }) === 1) listen();
  if (!Number.isNaN(requestedMs)) end();
}

function listen(): void {
  // The terminal sends these to every process; a parent process ends its children in order.
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

/** Kills this process by signal: `process.exit` would wait for a thread that is blocked on a disk. */
export function leave(signal: NodeJS.Signals): void {
  for (const file of unfinished())
    console.error(
      `farhand: ${file} is incomplete.${file.endsWith('.part') ? ` \`farhand recover ${file}\` finishes it.` : ''}`,
    );
  // Runs exit handlers, such as the removal of temporary folders.
  process.emit('exit', 1);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** Sends to the parent process if there is a channel. Resolves once the message is sent. */
export function parentChannel(): (message: unknown) => Promise<void> {
  return (message) =>
    new Promise((resolve) => {
      if (process.send && process.connected)
        process.send(message as ChildMessage, undefined, undefined, () => resolve());
      else resolve();
    });
}
