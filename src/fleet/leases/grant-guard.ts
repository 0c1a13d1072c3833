import { ANNOUNCED, type Grant } from './grant.ts';

/** Why a command is rejected. */
export type LeaseRefusal =
  | 'no-lease'
  | 'lease-expired'
  | 'not-holder'
  | 'old-token'
  | 'old-nonce'
  | 'not-saved';

export interface Nonce {
  nonce: string;
  madeNs: number;
}

/**
 * What a robot knows of its lease. Plain data; all times are on the robot's own monotonic clock, and no clock
 * is ever compared with another.
 */
export interface GuardState {
  /** The highest token seen, and the key of its holder. Anything older stays void. */
  high: number;
  key: string;
  /** Who may command, under the token `high`; empty: nobody. */
  user: string;
  untilNs: number;
  /** The robot's own, oldest first, not older than the term. */
  nonces: readonly Nonce[];
}

export const newGuard = (high = 0, key = ''): GuardState => ({
  ...{ high, key, user: '', untilNs: Number.NEGATIVE_INFINITY, nonces: [] },
});

export function withNonce(state: GuardState, nonce: string, nowNs: number, termNs: number): GuardState {
  const young = state.nonces.filter(({ madeNs }) => nowNs - madeNs < termNs);
  return { ...state, nonces: [...young, { nonce, madeNs: nowNs }] };
}

/**
 * A grant with a valid signature was presented, by anyone, at any time. It counts from when the robot made
 * the nonce in it, so that grants cannot be kept for later.
 */
export function presented(
  state: GuardState,
  grant: Grant,
  nowNs: number,
  termNs: number,
): { state: GuardState; refusal: LeaseRefusal | null } {
  const made = state.nonces.find(({ nonce }) => nonce === grant.nonce);
  const refuse = (refusal: LeaseRefusal) => ({ state, refusal });
  const spanNs = Math.min(termNs, grant.termMs * 1e6);
  if (made === undefined || nowNs - made.madeNs >= spanNs) return refuse('old-nonce');
  if (grant.user === '' || grant.key === '') return refuse('no-lease');
  if (grant.token < state.high) return refuse('old-token');
  // After a lost store two holders could have the same token.
  if (grant.token === state.high && grant.key !== state.key) return refuse('not-holder');
  const { token: high, key, user } = grant;
  const beforeNs = high === state.high ? state.untilNs : Number.NEGATIVE_INFINITY;
  return {
    state: { ...state, high, key, user, untilNs: Math.max(beforeNs, made.madeNs + spanNs) },
    refusal: null,
  };
}

/** The lease service announced a change. A higher token ends what stands; nothing begins. */
export function announced(state: GuardState, change: Grant): GuardState {
  if (change.nonce !== ANNOUNCED || change.token <= state.high) return state;
  return { ...state, high: change.token, key: change.key, user: '', untilNs: Number.NEGATIVE_INFINITY };
}

/** Why the holder of this token and key may not command now; null: it may. */
export function refusalOf(state: GuardState, key: string, token: number, nowNs: number): LeaseRefusal | null {
  if (token < state.high) return 'old-token';
  if (key !== state.key || token !== state.high) return 'not-holder';
  if (state.user === '') return 'no-lease';
  return nowNs >= state.untilNs ? 'lease-expired' : null;
}
