/**
 * What can close the clutch: the Shift key, the button (held or latched), dragging the hand, a gamepad shoulder button, a
 * finger on the pad or the rail.
 */
export type ClutchSource = 'shift' | 'held' | 'latched' | 'drag' | 'gamepad' | 'pad' | 'rail';

/**
 * The page's clutch. Closing it takes a new press while permitted. Any problem opens it, and a key that is still down does
 * not close it again.
 */
export class Clutch {
  readonly #sources = new Set<ClutchSource>();
  #permitted = false;

  get closed(): boolean {
    return this.#permitted && this.#sources.size > 0;
  }

  get permitted(): boolean {
    return this.#permitted;
  }

  has(source: ClutchSource): boolean {
    return this.#sources.has(source);
  }

  press(source: ClutchSource): void {
    if (this.#permitted) this.#sources.add(source);
  }

  release(source: ClutchSource): void {
    this.#sources.delete(source);
  }

  open(): void {
    this.#sources.clear();
  }

  permit(permitted: boolean): void {
    if (!permitted) this.open();
    this.#permitted = permitted;
  }
}
