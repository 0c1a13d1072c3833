/** What an operator requests of the supervisor besides motion. `reset` clears a latched e-stop. */
export const DESK_ACTIONS = ['arm', 'disarm', 'estop', 'reset'] as const;
export type DeskAction = (typeof DESK_ACTIONS)[number];
