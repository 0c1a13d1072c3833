/**
 * Channels and tracks of node-datachannel that have not told their end yet. Its `cleanup` follows a bare pointer to each
 * of them, also to one that was garbage-collected (0.33.4: seen as a crash at the end of a process); so none is.
 */
const held = new Set<{ onClosed(take: () => void): void }>();

/** `closed` is called when it has ended. Nobody else may set `onClosed`. */
export function hold(part: { onClosed(take: () => void): void }, closed: () => void = () => {}): void {
  held.add(part);
  part.onClosed(() => {
    // It lets go of its pointer after this call.
    setImmediate(() => held.delete(part));
    closed();
  });
}
