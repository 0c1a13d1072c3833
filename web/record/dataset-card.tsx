import { useState } from 'preact/hooks';
import { duration } from './format.ts';
import { isEdit, JobProgress } from './job-progress.tsx';
import { Sparkline } from './sparkline.tsx';
import type { RecordStore } from './store.ts';

/** Edits the datasets beside the recordings: the console runs `farhand dataset` for it. */
export function DatasetCard({ store }: { store: RecordStore }) {
  const { datasets, dataset, scores, datasetProblem, job } = store.state;
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const [text, setText] = useState('');
  const [fromS, setFromS] = useState('0');
  const [toS, setToS] = useState('');
  const [other, setOther] = useState('');
  const [mayDelete, setMayDelete] = useState(false);
  if (datasets.length === 0) return null;
  const busy = job?.state === 'running' || scores === null;
  const episodes = [...chosen].sort((a, b) => a - b);
  const one = episodes.length === 1 ? scores?.[episodes[0]!] : undefined;
  const run = (edit: Record<string, unknown>): void => {
    setMayDelete(false);
    setChosen(new Set());
    void store.editDataset(edit);
  };
  const toggle = (episode: number): void => {
    const next = new Set(chosen);
    if (!next.delete(episode)) next.add(episode);
    setMayDelete(false);
    setChosen(next);
  };
  const others = datasets.filter(({ name }) => name !== dataset);
  const merged = others.some(({ name }) => name === other) ? other : (others[0]?.name ?? '');
  const isName = /^[A-Za-z0-9][\w.-]{0,63}$/.test(text);
  const button = (name: string, label: string, disabled: boolean, edit: () => Record<string, unknown>) => (
    <button
      type="button"
      class="plain"
      data-testid={`dataset-${name}`}
      disabled={busy || disabled}
      onClick={() => run({ edit: name, ...edit() })}
    >
      {label}
    </button>
  );
  return (
    <section class="card" aria-labelledby="datasets-title" data-testid="datasets">
      <header class="card-head">
        <h3 id="datasets-title">Edit a dataset</h3>
        <select
          aria-label="Dataset"
          data-testid="dataset"
          value={dataset}
          onChange={(event) => {
            setChosen(new Set());
            void store.openDataset(event.currentTarget.value);
          }}
        >
          {datasets.map(({ name, episodes: count }) => (
            <option key={name} value={name}>
              {name} ({count})
            </option>
          ))}
        </select>
      </header>
      {job && isEdit(job) && <JobProgress job={job} testId="edit-progress" />}
      {datasetProblem !== '' && (
        <p class="small bad" role="alert">
          {datasetProblem}
        </p>
      )}
      <ul class="dataset-episodes" aria-label={`Episodes of ${dataset}`}>
        {(scores ?? []).map(({ episode, durationS, tasks, motion, marks }) => (
          <li key={episode}>
            <label>
              <input
                type="checkbox"
                data-testid={`dataset-episode-${episode}`}
                checked={chosen.has(episode)}
                onChange={() => toggle(episode)}
              />
              <span>{episode}</span>
              <span class="episode-task">{tasks.join(', ') || 'no task'}</span>
              <span class="muted">{duration(durationS)}</span>
              <Sparkline values={motion} />
              {marks.length > 0 && <span class="tag unusual">unusual: {marks.join(', ')}</span>}
            </label>
          </li>
        ))}
      </ul>
      <div class="actions three">
        {mayDelete ? (
          button('delete-now', `Delete ${counted(episodes.length)} for good`, false, () => ({
            edit: 'delete',
            episodes,
          }))
        ) : (
          <button
            type="button"
            class="plain"
            data-testid="dataset-delete"
            disabled={busy || episodes.length === 0}
            onClick={() => setMayDelete(true)}
          >
            Delete…
          </button>
        )}
        {button('stats', 'Statistics', false, () => ({}))}
      </div>
      <label class="field">
        <span>Task or new name</span>
        <input
          type="text"
          data-testid="dataset-text"
          value={text}
          maxLength={200}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <div class="actions three">
        {button('relabel', 'Set task', text === '' || episodes.length === 0, () => ({
          episodes,
          task: text,
        }))}
        {button('split', 'Copy into new', !isName || episodes.length === 0, () => ({ episodes, into: text }))}
      </div>
      {others.length > 0 && (
        <div class="export-row">
          <label class="field">
            <span>Other dataset</span>
            <select
              data-testid="dataset-other"
              value={merged}
              onChange={(event) => setOther(event.currentTarget.value)}
            >
              {others.map(({ name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          {button('merge', 'Merge into new', !isName, () => ({ other: merged, into: text }))}
        </div>
      )}
      {one !== undefined && (
        <div class="export-row">
          <Seconds label="From s" name="from" value={fromS} set={setFromS} />
          <Seconds label="To s" name="to" value={toS || one.durationS.toFixed(2)} set={setToS} />
          {button('trim', 'Trim', !(Number(toS || one.durationS) > Number(fromS)), () => ({
            episode: one.episode,
            fromS: Number(fromS),
            toS: Number(toS || one.durationS),
          }))}
        </div>
      )}
    </section>
  );
}

const counted = (episodes: number): string => (episodes === 1 ? '1 episode' : `${episodes} episodes`);

function Seconds(props: { label: string; name: string; value: string; set(value: string): void }) {
  return (
    <label class="field">
      <span>{props.label}</span>
      <input
        type="number"
        min={0}
        step={0.1}
        data-testid={`dataset-${props.name}`}
        value={props.value}
        onInput={(event) => props.set(event.currentTarget.value)}
      />
    </label>
  );
}
