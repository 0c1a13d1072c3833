export type Press = 'hand-back' | 'reset' | 'arm';

/** How often each button of any input was pressed. */
export interface PressCounts {
  readonly handBackPresses: number;
  readonly resetPresses: number;
  readonly armPresses: number;
}

/** Finds buttons pressed since the last call. */
export class PressWatch {
  #handBack = 0;
  #reset = 0;
  #arm = 0;

  /** One press per call; of several at once the more cautious comes first and voids the others. Hot path. */
  take({ handBackPresses, resetPresses, armPresses }: PressCounts): Press | null {
    const pressed =
      handBackPresses !== this.#handBack
        ? 'hand-back'
        : resetPresses !== this.#reset
          ? 'reset'
          : armPresses !== this.#arm
            ? 'arm'
            : null;
    this.#handBack = handBackPresses;
    this.#reset = resetPresses;
    this.#arm = armPresses;
    return pressed;
  }
}
