import type { EpisodeInfo } from '../../src/messages/recording.ts';

/** What a key does while episodes are reviewed. */
export type Review = { kind: 'label'; label: string } | { kind: 'move'; by: number } | { kind: 'delete' };

const KEYS: Record<string, Review> = {
  k: { kind: 'label', label: 'keep' },
  d: { kind: 'label', label: 'drop' },
  s: { kind: 'label', label: 'success' },
  f: { kind: 'label', label: 'failure' },
  n: { kind: 'move', by: 1 },
  p: { kind: 'move', by: -1 },
  delete: { kind: 'delete' },
};

/** Null: the key belongs to something else. */
export function reviewOf(event: KeyboardEvent): Review | null {
  const target = event.target as HTMLElement | null;
  const isTyping = target?.closest('input, textarea, select, [contenteditable]') != null;
  // With Shift, letters drive the robot.
  if (isTyping || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return null;
  return KEYS[event.key.toLowerCase()] ?? null;
}

/** The episode some places after the selected one; the first if none is selected. */
export function episodeAfter(
  episodes: readonly EpisodeInfo[],
  selected: string | null,
  by: number,
): string | null {
  const at = episodes.findIndex(({ id }) => id === selected);
  const next = at < 0 ? 0 : Math.max(0, Math.min(episodes.length - 1, at + by));
  return episodes[next]?.id ?? null;
}
