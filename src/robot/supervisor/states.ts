import type { StateReason, SupervisorState } from '../../messages/robot-state.ts';

export type SupervisorEvent =
  | 'operator-joined'
  | 'operator-left'
  | 'operator-lost'
  | 'arm'
  | 'powered'
  | 'disarm'
  | 'engage'
  | 'release'
  | 'tracking-lost'
  | 'watchdog'
  | 'fault'
  | 'estop'
  | 'reset';

/** Outside the supervisor, `arming` is shown as `idle`: a robot is armed once its joints are powered. */
export type InnerState = SupervisorState | 'arming';

export const shownState = (state: InnerState): SupervisorState => (state === 'arming' ? 'idle' : state);

type Row = Partial<Record<SupervisorEvent, InnerState>>;

/**
 * The complete behaviour. An event without an entry changes nothing. E-stop and fault work in every state.
 * Losing the operator of a powered robot is an e-stop; an operator that disconnects properly is not.
 */
export const TRANSITIONS: Record<InnerState, Row> = {
  disconnected: { 'operator-joined': 'idle', estop: 'stopped', fault: 'stopped' },
  idle: {
    arm: 'arming',
    'operator-left': 'disconnected',
    'operator-lost': 'disconnected',
    estop: 'stopped',
    fault: 'stopped',
  },
  arming: {
    powered: 'armed',
    disarm: 'idle',
    'operator-left': 'disconnected',
    'operator-lost': 'stopped',
    'operator-joined': 'idle',
    estop: 'stopped',
    fault: 'stopped',
  },
  armed: {
    engage: 'engaged',
    disarm: 'idle',
    'operator-left': 'disconnected',
    'operator-lost': 'stopped',
    'operator-joined': 'idle',
    estop: 'stopped',
    fault: 'stopped',
  },
  engaged: {
    release: 'hold',
    'tracking-lost': 'hold',
    watchdog: 'hold',
    disarm: 'idle',
    'operator-left': 'disconnected',
    'operator-lost': 'stopped',
    'operator-joined': 'idle',
    estop: 'stopped',
    fault: 'stopped',
  },
  hold: {
    engage: 'engaged',
    disarm: 'idle',
    'operator-left': 'disconnected',
    'operator-lost': 'stopped',
    'operator-joined': 'idle',
    estop: 'stopped',
    fault: 'stopped',
  },
  stopped: { reset: 'idle' },
};

/** Why a state was entered by an event, unless the supervisor knows better. */
export const REASON_OF: Record<SupervisorEvent, StateReason> = {
  'operator-joined': 'person',
  'operator-left': 'person',
  'operator-lost': 'silence',
  arm: 'person',
  powered: 'person',
  disarm: 'person',
  engage: 'person',
  release: 'person',
  'tracking-lost': 'tracking',
  watchdog: 'silence',
  fault: 'fault',
  estop: 'person',
  reset: 'person',
};

/** States in which the joints are powered, or may be. */
export const POWERED: Record<InnerState, boolean> = {
  disconnected: false,
  idle: false,
  arming: true,
  armed: true,
  engaged: true,
  hold: true,
  stopped: false,
};

export interface Transition {
  robotNs: number;
  from: SupervisorState;
  to: SupervisorState;
  cause: string;
  /** Flight recorder slab with the cycles before the transition; −1: none. */
  flight: number;
}
