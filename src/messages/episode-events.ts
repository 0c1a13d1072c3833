import type { EpisodeRow } from './recording.ts';

const EPISODE_EVENT_KINDS = ['stop', 'hold', 'limit', 'intervention', 'mistake', 'subtask'] as const;
export type EpisodeEventKind = (typeof EPISODE_EVENT_KINDS)[number];

/** Something that happened during an episode, from one row to another, inclusive. */
export interface EpisodeEvent {
  kind: EpisodeEventKind;
  /** For people to read. */
  text: string;
  from: number;
  to: number;
}

/** Limits of every ordinary motion: nobody can act on them. */
const ORDINARY = ['', 'jerk', 'acceleration', 'engage-ramp'];
/** A limit that passes within this is not reported. */
const SHORTEST_NS = 0.2e9;

/** The holds, stops, limits, interventions, mistakes and sub-tasks of an episode, in order of their start. */
export function episodeEvents(rows: readonly EpisodeRow[]): EpisodeEvent[] {
  const found = [
    ...runs(rows, 'stop', ({ supervisor }) => (supervisor === 'stopped' ? 'stopped' : '')),
    ...runs(rows, 'hold', ({ supervisor }) => (supervisor === 'hold' ? 'hold' : '')),
    ...runs(rows, 'limit', limitText).filter(
      ({ from, to }) => rows[to]!.timeNs - rows[from]!.timeNs >= SHORTEST_NS,
    ),
    ...runs(rows, 'intervention', ({ intervention }) => (intervention ? 'a person took over' : '')),
    ...runs(rows, 'mistake', ({ source }) => (source === 'disturbance' ? 'mistake on purpose' : '')),
    ...runs(rows, 'subtask', ({ subtask = '' }) => subtask),
  ];
  return found.sort((a, b) => a.from - b.from);
}

const limitText = ({ limitedBy }: EpisodeRow): string =>
  ORDINARY.includes(limitedBy) ? '' : `limited by ${limitedBy}`;

/** Stretches of rows with the same text that is not empty. */
function runs(
  rows: readonly EpisodeRow[],
  kind: EpisodeEventKind,
  textOf: (row: EpisodeRow) => string,
): EpisodeEvent[] {
  const found: EpisodeEvent[] = [];
  for (const [i, row] of rows.entries()) {
    const text = textOf(row);
    const last = found.at(-1);
    if (text === '') continue;
    if (last?.to === i - 1 && last.text === text) last.to = i;
    else found.push({ kind, text, from: i, to: i });
  }
  return found;
}
