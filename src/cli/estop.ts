import { deskVerb } from './desk-verb.ts';

export const estopVerb = deskVerb(
  'estop',
  'Stops the robot through the operator on this machine, and waits until the robot says so.',
  `The stop is latched: \`farhand reset\` clears it. The time is until telemetry told, which comes about every 33 ms.
Exit code 1: not confirmed. It does not replace an emergency stop that cuts the power.`,
);
