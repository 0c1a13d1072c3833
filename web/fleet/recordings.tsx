import { useState } from 'preact/hooks';
import type { FleetRecording } from '../../src/messages/fleet-console.ts';
import { duration, size, when } from '../record/format.ts';
import type { FleetStore } from './store.ts';

/** Longer tables are not readable; use the search. */
const MAX_ROWS = 300;

/** The recordings of all robots, newest first. */
export function RecordingsTable({ store }: { store: FleetStore }) {
  const { recordings, recordingsProblem, query } = store.state;
  const [open, setOpen] = useState('');
  if (recordingsProblem) return <p class="empty bad">{recordingsProblem}</p>;
  if (recordings === null) return <p class="empty">Loading…</p>;
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = recordings.recordings.filter((each) => words.every((word) => textOf(each).includes(word)));
  const { left, without } = recordings;
  const failed = without.filter(({ why }) => !/no room/.test(why));
  return (
    <section class="card fleet-recordings" aria-label="Recordings">
      <table data-testid="fleet-recordings-table">
        <thead>
          <tr>
            {['When', 'Robot', 'Task', 'Length', 'Size', 'Location', ''].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {found.slice(0, MAX_ROWS).map((each) => {
            const key = `${each.robot}/${each.episode}`;
            const isOpen = key === open;
            return (
              <Rows
                key={key}
                store={store}
                recording={each}
                isOpen={isOpen}
                onOpen={() => setOpen(isOpen ? '' : key)}
              />
            );
          })}
        </tbody>
      </table>
      {found.length === 0 && (
        <p class="empty">
          {recordings.recordings.length ? (
            'No recording matches.'
          ) : (
            <>
              No recordings. An administrator enables them for each robot:{' '}
              <code>farhand fleet bucket ROBOT</code>
            </>
          )}
        </p>
      )}
      <p class="muted small">
        {found.length} of {recordings.recordings.length}
        {found.length > MAX_ROWS && `, the newest ${MAX_ROWS} shown`}
        {left > 0 && `; ${left} more robots not loaded: search for a robot by its full name`}
        {failed.length > 0 && `; no reply for ${failed.map(({ robot }) => robot).join(', ')}`}
      </p>
    </section>
  );
}

interface RowsProps {
  store: FleetStore;
  recording: FleetRecording;
  isOpen: boolean;
  onOpen(): void;
}

function Rows({ store, recording, isOpen, onOpen }: RowsProps) {
  const { robot, episode, task, label, durationS, sizeBytes, startedAt, places } = recording;
  const command = pullCommand(store, recording);
  return (
    <>
      <tr data-testid={`recording-${episode}`}>
        <td>{when(startedAt)}</td>
        <td>{robot}</td>
        <td class="r-task">
          {task || 'no task'}
          {label && <span class="tag">{label}</span>}
        </td>
        <td>{duration(durationS)}</td>
        <td>{size(sizeBytes)}</td>
        <td class="r-where">
          {places.map((place) => (place === 'nats' ? 'fleet' : place)).join(', ') || 'none'}
        </td>
        <td>
          <button
            type="button"
            class="plain"
            aria-expanded={isOpen}
            data-testid={`pull-${episode}`}
            onClick={onOpen}
          >
            Pull
          </button>
        </td>
      </tr>
      {isOpen && (
        <tr class="r-command">
          <td colSpan={7}>
            {command === null ? (
              <p class="muted">
                Only the robot has this recording. Upload it on the robot:{' '}
                <code>farhand fleet push {robot} …</code>
              </p>
            ) : (
              <div class="fix">
                <code data-testid="pull-command">{command}</code>
                <button
                  type="button"
                  class="plain"
                  onClick={() => void navigator.clipboard?.writeText(command)}
                >
                  Copy
                </button>
              </div>
            )}
          </td>
        </tr>
      )}
    </>
  );
}

const textOf = ({ robot, episode, task, label, places }: FleetRecording): string =>
  [robot, episode, task, label ?? '', ...places].join(' ').toLowerCase();

/** The command that downloads a recording; null when only the robot has it. */
function pullCommand(store: FleetStore, { robot, episode, places }: FleetRecording): string | null {
  const s3 = places.find((place) => place.startsWith('s3://'));
  if (!places.includes('nats') && s3 === undefined) return null;
  const { server = '', credentials = '' } = store.fleet.info ?? {};
  const from = places.includes('nats') ? '' : ` --from ${folderOf(s3!, robot, episode)}`;
  const as = `--server ${server || 'URL'} --creds ${credentials || 'FILE'}`;
  return `farhand fleet pull ${robot} ${episode} ${as} --recordings .${from}`;
}

const folderOf = (place: string, robot: string, episode: string): string =>
  place.replace(new RegExp(`/(${robot}/)?${episode}\\.mcap$`), '');
