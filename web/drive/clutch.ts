/** The ways to say "follow me": the Shift key, the button held or latched, the hand dragged, a gamepad's shoulder. */
export type ClutchSource = 'shift' | 'held' | 'latched' | 'drag' | 'gamepad';

/**
 * Whether the page asks the robot to follow. Closing it needs a fresh press while permitted; anything that goes wrong
 * opens it, and a key that is still down does not close it again.
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
