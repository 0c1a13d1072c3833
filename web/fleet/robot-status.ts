import type { KnownRobot } from '../link/fleet-link.ts';

/** Robot states in display order; `gone` means offline. */
export const TONES = ['engaged', 'armed', 'hold', 'idle', 'stopped', 'disconnected', 'gone'] as const;
export type Tone = (typeof TONES)[number];

/** A robot without an operator is not disconnected from the fleet. */
export const stateLabel = (state: string): string =>
  state === 'disconnected' ? 'no operator' : state === 'gone' ? 'offline' : state;

/** A robot as shown now. */
export interface Shown extends KnownRobot {
  tone: Tone;
  /** Time since its last message; null while it is online. */
  goneMs: number | null;
  heldMs: number | null;
  /** Lower-case text to search. */
  text: string;
}

export function shownOf(row: KnownRobot, nowMs: number): Shown {
  const sinceMs = nowMs - row.atMs;
  const goneMs = row.goneForMs === null ? null : row.goneForMs + sinceMs;
  const tone = goneMs !== null ? 'gone' : (TONES.find((known) => known === row.state) ?? 'disconnected');
  const { robot, model, state, lease, cause } = row;
  const text = [
    robot,
    model,
    goneMs === null ? `${state} ${stateLabel(state)}` : `offline ${state}`,
    lease?.user ?? 'free',
    cause,
  ];
  return {
    ...{ ...row, tone, goneMs, heldMs: lease === null ? null : lease.heldForMs + sinceMs },
    text: text.join(' ').toLowerCase(),
  };
}

/** `4 s`, `3 min` or `2 h`. */
export function age(ms: number): string {
  const s = Math.floor(ms / 1000);
  if (s < 60) return `${s} s`;
  return s < 3600 ? `${Math.floor(s / 60)} min` : `${Math.floor(s / 3600)} h`;
}

export type Quality = 'good' | 'note' | 'bad' | 'none';

const SLOW_MS = 60;
const TOO_SLOW_MS = 150;
/** Operators send 100 commands a second. */
const SPARSE_HZ = 40;

/** Quality of the link between robot and operator. */
export function linkQuality({ link }: Pick<Shown, 'link'>): {
  quality: Quality;
  text: string;
  rates: string;
} {
  if (link === null) return { quality: 'none', text: '—', rates: 'no session' };
  const { rttMs, fromOperatorHz, toOperatorHz, client } = link;
  const rate = (value: number | null) => (value === null ? '–' : `${Math.round(value)}`);
  const rates = `${rate(fromOperatorHz)} in, ${rate(toOperatorHz)} out /s`;
  const silent = fromOperatorHz !== null && fromOperatorHz < 1;
  const slow = rttMs ?? 0;
  const sparse = client === 'operator' && fromOperatorHz !== null && fromOperatorHz < SPARSE_HZ;
  const quality = silent || slow > TOO_SLOW_MS ? 'bad' : slow > SLOW_MS || sparse ? 'note' : 'good';
  const words = { good: 'good', note: sparse ? 'low rate' : 'slow', bad: silent ? 'no data' : 'too slow' }[
    quality
  ];
  return { quality, text: `${words}${rttMs === null ? '' : `, ${Math.round(rttMs)} ms`}`, rates };
}
