import { isDriveKey } from '../../src/desk/page-hand.ts';

export interface DriveKeyHandlers {
  onShift(down: boolean): void;
  onGripper(): void;
  onCentre(): void;
  onHandBack(): void;
}

/** Tracks the driving keys while `active()`. Ignores typing, browser shortcuts, and arrows that choose in a list. */
export function listenToDriveKeys(active: () => boolean, handlers: DriveKeyHandlers): ReadonlySet<string> {
  const held = new Set<string>();
  window.addEventListener('keydown', (event) => {
    if (!active() || isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isChoosing(event)) return;
    if (event.key === 'Shift' && !event.repeat) handlers.onShift(true);
    if (event.code === 'KeyG' && !event.repeat) handlers.onGripper();
    if (event.code === 'KeyC' && !event.repeat) handlers.onCentre();
    if (event.code === 'KeyB' && !event.repeat) handlers.onHandBack();
    if (isDriveKey(event.code)) held.add(event.code);
    // A list that has the focus would jump to the entry that begins with this letter.
    const isLetter = event.key.length === 1 && event.target instanceof HTMLSelectElement;
    if (isDriveKey(event.code) || isLetter) event.preventDefault();
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

const TEXT_FIELDS = /^(text|search|url|tel|email|password|number)$/;

/** A list or a button that has the focus is not typing: driving keys must win over it. */
export function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return TEXT_FIELDS.test(target.type);
  return target instanceof HTMLTextAreaElement || (target instanceof HTMLElement && target.isContentEditable);
}

/** Arrows choose in a list that has the focus, unless Shift closes the clutch. */
function isChoosing({ target, key, shiftKey }: KeyboardEvent): boolean {
  return target instanceof HTMLSelectElement && key.startsWith('Arrow') && !shiftKey;
}
