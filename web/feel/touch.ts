import type { Pulse } from '../../src/hand/touch-feel.ts';
import type { PulseDevice, PulseReport } from '../../src/messages/pulse-event.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';

/** Pulses a gamepad; a running pulse is replaced. False if it cannot. */
export function pulseGamepad(pad: Gamepad | null, { strength, durationMs }: Pulse): boolean {
  const actuator = pad?.vibrationActuator;
  if (!actuator) return false;
  const effect = { duration: durationMs, strongMagnitude: strength, weakMagnitude: strength };
  void actuator.playEffect('dual-rumble', effect).catch(() => {});
  return true;
}

/** For the trace: a pulse was just given for the contact in this message. Null from operators that send no stamps. */
export function pulseReport(
  { robot }: Telemetry,
  { strength }: Pulse,
  device: PulseDevice,
): PulseReport | null {
  const { readNs = null, publishedNs = null } = robot ?? {};
  if (readNs === null || publishedNs === null) return null;
  return { kind: 'pulse', device, strength, readNs, publishedNs, givenMs: performance.now() };
}
