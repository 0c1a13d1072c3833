import { useState } from 'preact/hooks';
import { isEdit, JobProgress } from './job-progress.tsx';
import type { RecordState } from './store.ts';

interface Props {
  state: RecordState;
  onExport(name: string): void;
}

/** Exports all episodes as a LeRobot dataset in a separate process. */
export function ExportCard({ state, onExport }: Props) {
  const [name, setName] = useState('dataset');
  const { job, exportProblem, list } = state;
  const running = job?.state === 'running';
  const empty = (list?.episodes.length ?? 0) === 0;
  return (
    <section class="card" aria-labelledby="export-title">
      <header class="card-head">
        <h3 id="export-title">Export</h3>
        <span class="muted">LeRobot dataset</span>
      </header>
      <div class="export-row">
        <label class="field">
          <span>Name</span>
          <input
            type="text"
            data-testid="export-name"
            value={name}
            maxLength={64}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <button
          type="button"
          class="plain strong"
          data-testid="export"
          disabled={running || empty}
          onClick={() => onExport(name)}
        >
          {running ? 'Exporting…' : 'Export all'}
        </button>
      </div>
      {exportProblem !== '' && (
        <p class="small bad" role="alert">
          {exportProblem}
        </p>
      )}
      {job && job.state !== 'idle' && !isEdit(job) && <JobProgress job={job} testId="export-progress" />}
    </section>
  );
}
