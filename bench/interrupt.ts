const controller = new AbortController();

/** Aborted by Ctrl-C or SIGTERM: what we started is ended first, then we end. A second Ctrl-C ends us at once. */
export const interruption: AbortSignal = controller.signal;

export const interrupted: Promise<void> = new Promise((resolve) => {
  interruption.addEventListener('abort', () => resolve());
});

for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort());
