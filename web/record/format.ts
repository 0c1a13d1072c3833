import type { EpisodeInfo } from '../../src/messages/recording.ts';

export function duration(seconds: number): string {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

export function size(bytes: number): string {
  if (bytes < 1e6) return `${Math.round(bytes / 1e3)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}

export const when = (iso: string): string =>
  new Date(iso).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** The result of the quality gate when the episode was saved. */
export function verdict({ complete, quality }: EpisodeInfo): { tone: 'good' | 'note' | 'bad'; text: string } {
  if (!complete) return { tone: 'bad', text: 'incomplete: repair with farhand recover' };
  if (quality === null) return { tone: 'note', text: 'not checked' };
  if (quality.refusedBy.length === 0) return { tone: 'good', text: 'passed' };
  return { tone: 'bad', text: quality.refusedBy.join('; ') };
}
