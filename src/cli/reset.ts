import { deskVerb } from './desk-verb.ts';

export const resetVerb = deskVerb(
  'reset',
  'Clears a latched stop through the operator on this machine, and waits until the robot says so.',
  'The robot is idle then; arming and engaging are separate acts. Exit code 1: not confirmed, or not stopped.',
);
