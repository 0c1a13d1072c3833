/** A click this soon after a pointerdown is the same press. */
const SAME_PRESS_MS = 1000;

/** Acts on press, not on release; also from the keyboard. */
export function listenForPress(button: HTMLButtonElement, press: () => void): void {
  let pointerMs = Number.NEGATIVE_INFINITY;
  button.addEventListener('pointerdown', () => {
    pointerMs = performance.now();
    press();
  });
  button.addEventListener('click', () => {
    if (performance.now() - pointerMs > SAME_PRESS_MS) press();
  });
}

/**
 * Space outside text fields, and Escape everywhere. Captured before anything else on the page sees them, so Space never
 * presses the focused button.
 */
export function listenForStopKeys(press: () => void): void {
  const swallow = (event: KeyboardEvent) => {
    if (event.code !== 'Space' && event.key !== ' ' && event.key !== 'Escape') return;
    if (event.key !== 'Escape' && isTextField(event.target)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.type === 'keydown' && !event.repeat) press();
  };
  window.addEventListener('keydown', swallow, { capture: true });
  window.addEventListener('keyup', swallow, { capture: true });
}

const TEXT_TYPES = ['text', 'search', 'email', 'url', 'password', 'number', 'tel'];

/** An editable text field, where Space types a space. */
export function isTextField(target: EventTarget | null): boolean {
  if (target instanceof HTMLTextAreaElement) return !target.readOnly;
  if (target instanceof HTMLInputElement) return TEXT_TYPES.includes(target.type) && !target.readOnly;
  return target instanceof HTMLElement && target.isContentEditable;
}
