/**
 * Channels and tracks of node-datachannel that have not reported their end yet. Its `cleanup` follows a bare
 * pointer to each of them, even a garbage-collected one (0.33.4: crashes when the process ends), so we keep
 * them alive.
 */
const held = new Set<{ onClosed(take: () => void): void }>();

/** `closed` is called when it has ended. No other code may set `onClosed`. */
export function hold(part: { onClosed(take: () => void): void }, closed: () => void = () => {}): void {
  held.add(part);
  part.onClosed(() => {
    // It releases its pointer after this call.
    setImmediate(() => held.delete(part));
    closed();
  });
}
