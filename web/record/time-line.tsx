import type { EpisodeView } from '../../src/messages/console.ts';
import { type EpisodeEventKind, episodeEvents } from '../../src/messages/episode-events.ts';

interface Props {
  view: EpisodeView;
  at: number;
  onPick(at: number): void;
}

/** A shape and a letter for each kind, so that colour is not needed. */
const MARKS: Record<EpisodeEventKind, string> = {
  stop: '■',
  hold: '‖',
  limit: '▲',
  intervention: '●',
  mistake: '×',
  subtask: '▸',
};

/** Holds, limits, interventions and sub-tasks over the episode; each jumps to where it began. */
export function TimeLine({ view, at, onPick }: Props) {
  const { rows } = view;
  const events = episodeEvents(rows);
  const last = Math.max(1, rows.length - 1);
  const percent = (row: number) => `${(100 * row) / last}%`;
  return (
    <div class="time-line" data-testid="time-line">
      <div class="time-track" aria-hidden="true">
        {events.map(({ kind, from, to }) => (
          <i
            key={`${kind}${from}`}
            data-kind={kind}
            style={{ left: percent(from), width: percent(to - from) }}
          />
        ))}
        <b style={{ left: percent(at) }} />
      </div>
      {events.length === 0 ? (
        <p class="small muted">No holds, limits or interventions.</p>
      ) : (
        <ul class="time-events" aria-label="Events">
          {events.map(({ kind, text, from }) => (
            <li key={`${kind}${from}`}>
              <button type="button" data-kind={kind} onClick={() => onPick(from)}>
                <span aria-hidden="true">{MARKS[kind]}</span> {(rows[from]!.timeNs / 1e9).toFixed(1)} s {text}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
