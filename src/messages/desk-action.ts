/**
 * What an operator requests of the robot besides motion. `reset` clears a latched e-stop; `world` starts a task of a
 * simulated world over and does not concern the supervisor.
 */
export const DESK_ACTIONS = ['arm', 'disarm', 'estop', 'reset', 'world'] as const;
export type DeskAction = (typeof DESK_ACTIONS)[number];
