import type { Pulse } from '../../src/hand/touch-feel.ts';

/** Pulses a gamepad; a running pulse is replaced. */
export function pulseGamepad(pad: Gamepad | null, { strength, durationMs }: Pulse): void {
  const effect = { duration: durationMs, strongMagnitude: strength, weakMagnitude: strength };
  void pad?.vibrationActuator?.playEffect('dual-rumble', effect).catch(() => {});
}
