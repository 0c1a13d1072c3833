import { isDriveKey } from './hand.ts';

export interface DriveKeyHandlers {
  onShift(down: boolean): void;
  onGripper(): void;
  onCentre(): void;
}

/** Tracks the driving keys while `active()`. Ignores typing and browser shortcuts. */
export function listenToDriveKeys(active: () => boolean, handlers: DriveKeyHandlers): ReadonlySet<string> {
  const held = new Set<string>();
  window.addEventListener('keydown', (event) => {
    if (!active() || isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Shift' && !event.repeat) handlers.onShift(true);
    if (event.code === 'KeyG' && !event.repeat) handlers.onGripper();
    if (event.code === 'KeyC' && !event.repeat) handlers.onCentre();
    if (!isDriveKey(event.code)) return;
    event.preventDefault();
    held.add(event.code);
  });
  window.addEventListener('keyup', (event) => {
    held.delete(event.code);
    if (event.key === 'Shift') handlers.onShift(false);
  });
  // Releasing a key in another window sends no keyup: any event without Shift counts as its release.
  window.addEventListener('pointermove', (event) => {
    if (!event.shiftKey) handlers.onShift(false);
  });
  const forget = () => held.clear();
  window.addEventListener('blur', forget);
  document.addEventListener('visibilitychange', forget);
  return held;
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
