import type { SupervisorState } from '../../core/messages.ts';

export type SupervisorEvent =
  | 'operator-joined'
  | 'operator-left'
  | 'operator-lost'
  | 'arm'
  | 'disarm'
  | 'engage'
  | 'release'
  | 'tracking-lost'
  | 'watchdog'
  | 'fault'
  | 'estop'
  | 'reset';

type Row = Partial<Record<SupervisorEvent, SupervisorState>>;

/**
 * The whole behaviour. An event without an entry changes nothing. E-stop and fault are honoured everywhere; to lose the
 * operator of a powered robot is an e-stop, an operator that says goodbye is not.
 */
export const TRANSITIONS: Record<SupervisorState, Row> = {
  disconnected: { 'operator-joined': 'idle', estop: 'stopped', fault: 'stopped' },
  idle: {
    arm: 'armed',
    'operator-left': 'disconnected',
    'operator-lost': 'disconnected',
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

/** States in which the joints are powered. */
export const POWERED: Record<SupervisorState, boolean> = {
  disconnected: false,
  idle: false,
  armed: true,
  engaged: true,
  hold: true,
  stopped: false,
};
