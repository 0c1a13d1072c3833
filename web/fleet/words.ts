import type { KnownRobot } from '../link/fleet-link.ts';

/** What a robot is doing, as the map colours it; most alive first. */
export const TONES = ['engaged', 'armed', 'hold', 'idle', 'stopped', 'disconnected', 'gone'] as const;
export type Tone = (typeof TONES)[number];

/** A robot that is there and linked to nobody is not disconnected from the fleet. */
export const stateWord = (state: string): string => (state === 'disconnected' ? 'no operator' : state);

/** A robot as it is shown at an instant. */
export interface Shown extends KnownRobot {
  tone: Tone;
  /** How long nothing was heard of it; null: it is there. */
  goneMs: number | null;
  heldMs: number | null;
  /** What a search looks at. */
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
    goneMs === null ? `${state} ${stateWord(state)}` : `gone ${state}`,
    lease?.user ?? 'free',
    cause,
  ];
  return {
    ...{ ...row, tone, goneMs, heldMs: lease === null ? null : lease.heldForMs + sinceMs },
    text: text.join(' ').toLowerCase(),
  };
}

/** `4 s`, `3 min`, `2 h`: as much as one wants to know. */
export function age(ms: number): string {
  const s = Math.floor(ms / 1000);
  if (s < 60) return `${s} s`;
  return s < 3600 ? `${Math.floor(s / 60)} min` : `${Math.floor(s / 3600)} h`;
}

export type Quality = 'good' | 'note' | 'bad' | 'none';

const SLOW_MS = 60;
const TOO_SLOW_MS = 150;
/** Commands leave a hundred times a second. */
const SPARSE_HZ = 40;

/** Of the way between the robot and who drives it. */
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
  const words = { good: 'good', note: sparse ? 'sparse' : 'slow', bad: silent ? 'silent' : 'too slow' }[
    quality
  ];
  return { quality, text: `${words}${rttMs === null ? '' : `, ${Math.round(rttMs)} ms`}`, rates };
}
