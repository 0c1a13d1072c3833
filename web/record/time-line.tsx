import type { EpisodeView } from '../../src/messages/console.ts';
import { type EpisodeEventKind, episodeEvents } from '../../src/messages/episode-events.ts';
import type { Cut } from './cut-row.tsx';

interface Props {
  view: EpisodeView;
  at: number;
  /** The rest is shown as left out. */
  cut: Cut;
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
export function TimeLine({ view, at, cut, onPick }: Props) {
  const { rows } = view;
  const events = episodeEvents(rows);
  const last = Math.max(1, rows.length - 1);
  const percent = (row: number) => `${(100 * row) / last}%`;
  const share = (seconds: number) =>
    100 * Math.max(0, Math.min(1, seconds / Math.max(0.001, view.info.durationS)));
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
        <s style={{ left: 0, width: `${share(cut.fromS)}%` }} />
        <s style={{ right: 0, width: `${100 - share(cut.toS)}%` }} />
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
