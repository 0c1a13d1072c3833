import { duration, size, verdict, when } from './format.ts';
import { Sparkline } from './sparkline.tsx';
import type { RecordState } from './store.ts';

interface Props {
  state: RecordState;
  onSelect(id: string): void;
}

/** The recordings, newest first. */
export function EpisodeTable({ state, onSelect }: Props) {
  const { list, listProblem, selected } = state;
  if (listProblem !== '') return <p class="empty bad">{listProblem}</p>;
  if (list === null) return <p class="empty">Loading…</p>;
  if (list.episodes.length === 0) return <p class="empty">No episodes yet.</p>;
  return (
    <ul class="episodes" data-testid="episodes" aria-label="Episodes">
      {list.episodes.map((episode) => {
        const { tone, text } = verdict(episode);
        return (
          <li key={episode.id}>
            <button
              type="button"
              data-testid={`episode-${episode.id}`}
              aria-pressed={episode.id === selected}
              onClick={() => onSelect(episode.id)}
            >
              {episode.cameras[0] !== undefined && (
                <img
                  class="thumbnail"
                  loading="lazy"
                  decoding="async"
                  alt=""
                  src={`api/episodes/${encodeURIComponent(episode.id)}/frame?camera=${encodeURIComponent(episode.cameras[0])}&row=0`}
                />
              )}
              <span class="episode-task">{episode.task || 'no task'}</span>
              <span class="episode-time">{duration(episode.durationS)}</span>
              <span class="episode-when muted">{when(episode.startedAt)}</span>
              <span class="episode-size muted">{size(episode.sizeBytes)}</span>
              <span class={`verdict ${tone}`} title={text}>
                {text}
              </span>
              {episode.quality?.figures && <Sparkline values={episode.quality.figures.motion} />}
              {episode.label && <span class="tag">{episode.label}</span>}
              {list.marks[episode.id] && (
                <span class="tag unusual" data-testid={`marks-${episode.id}`}>
                  unusual: {list.marks[episode.id]!.join(', ')}
                </span>
              )}
            </button>
          </li>
        );
      })}
    </ul>
  );
}
