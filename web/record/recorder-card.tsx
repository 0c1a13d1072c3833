import { useState } from 'preact/hooks';
import type { RecordRequest } from '../../src/messages/recording.ts';
import { duration } from './format.ts';
import type { RecordState } from './store.ts';

const WORDS: Record<string, string> = {
  idle: 'Ready',
  recording: 'Recording',
  reset: 'Put the scene back',
  failed: 'Stopped by itself',
};

interface Props {
  state: RecordState;
  send(request: RecordRequest): void;
}

/** What the recorder does, and the buttons that tell it to. */
export function RecorderCard({ state, send }: Props) {
  const [task, setTask] = useState<string | null>(null);
  const { recorder, list } = state;
  if (!recorder) return <NoRecorder known={recorder === null || list !== null} dir={list?.dir ?? null} />;
  const shown = task ?? recorder.task;
  const active = recorder.state === 'recording';
  const start = (): void => send({ kind: 'record', action: 'start', ...(shown && { task: shown }) });
  return (
    <section class="card recorder" data-state={recorder.state} aria-labelledby="recorder-title">
      <h3 id="recorder-title" class="visually-hidden">
        Recorder
      </h3>
      <div class="recorder-head">
        <i class="record-light" aria-hidden="true" />
        <strong data-testid="recorder-state" role="status">
          {WORDS[recorder.state] ?? recorder.state}
        </strong>
        <span class="recorder-time">{duration(recorder.durationS)}</span>
        <span class="muted">
          {recorder.rows.toLocaleString('en')} rows, {recorder.skippedRows} skipped
        </span>
      </div>
      <p class="recorder-message" role="status">
        {recorder.message}
      </p>
      <label class="field">
        <span>Task</span>
        <input
          type="text"
          data-testid="task"
          value={shown}
          maxLength={200}
          placeholder="what the robot is to learn here"
          onInput={(event) => setTask(event.currentTarget.value)}
          onChange={() => send({ kind: 'record', action: 'task', task: shown })}
        />
      </label>
      <p class="small muted">In this field Space is a space; Esc still stops the robot.</p>
      <div class="actions three">
        <button type="button" data-testid="record-start" class="primary" disabled={active} onClick={start}>
          Start
        </button>
        <button
          type="button"
          data-testid="record-stop"
          disabled={!active}
          onClick={() => send({ kind: 'record', action: 'stop' })}
        >
          Stop and save
        </button>
        <button
          type="button"
          data-testid="record-discard"
          disabled={!active}
          onClick={() => send({ kind: 'record', action: 'discard' })}
        >
          Discard
        </button>
      </div>
    </section>
  );
}

function NoRecorder({ known, dir }: { known: boolean; dir: string | null }) {
  return (
    <section class="card recorder" data-state="none" aria-label="Recorder">
      <div class="recorder-head">
        <i class="record-light" aria-hidden="true" />
        <strong data-testid="recorder-state">
          {known ? 'This operator does not record' : 'Asking the operator'}
        </strong>
      </div>
      <p class="small muted">
        {dir === null
          ? 'Give the rig a folder for recordings: record.dir=recordings, and start again.'
          : `Recordings in ${dir} can be looked at and exported.`}
      </p>
    </section>
  );
}
