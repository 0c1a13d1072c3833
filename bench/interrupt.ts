const controller = new AbortController();

/** Aborted by Ctrl-C or SIGTERM: ends everything we started, then this process. A second Ctrl-C ends it at once. */
export const interruption: AbortSignal = controller.signal;

export const interrupted: Promise<void> = new Promise((resolve) => {
  interruption.addEventListener('abort', () => resolve());
});

for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort());
