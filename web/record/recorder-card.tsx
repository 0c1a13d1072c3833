import { useState } from 'preact/hooks';
import type { RecordRequest } from '../../src/messages/recording.ts';
import { duration } from './format.ts';
import type { RecordState } from './store.ts';

const WORDS: Record<string, string> = {
  idle: 'Ready',
  recording: 'Recording',
  reset: 'Reset the scene',
  failed: 'Recording failed',
};

interface Props {
  state: RecordState;
  send(request: RecordRequest): void;
}

/** State and controls of the recorder. */
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
          placeholder="What the robot should learn"
          onInput={(event) => setTask(event.currentTarget.value)}
          onChange={() => send({ kind: 'record', action: 'task', task: shown })}
        />
      </label>
      {active && <SubtaskField current={recorder.subtask ?? ''} send={send} />}
      <p class="small muted">In this field Space types a space. Esc still stops the robot.</p>
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

/** Marks where a sub-task begins. */
function SubtaskField({ current, send }: { current: string; send: Props['send'] }) {
  const [text, setText] = useState<string | null>(null);
  const shown = text ?? current;
  return (
    <label class="field">
      <span>Sub-task from now on</span>
      <input
        type="text"
        data-testid="subtask"
        value={shown}
        maxLength={200}
        placeholder="For example: grasp the cup"
        onInput={(event) => setText(event.currentTarget.value)}
        onChange={() => {
          send({ kind: 'record', action: 'mark', subtask: shown });
          setText(null);
        }}
      />
    </label>
  );
}

function NoRecorder({ known, dir }: { known: boolean; dir: string | null }) {
  return (
    <section class="card recorder" data-state="none" aria-label="Recorder">
      <div class="recorder-head">
        <i class="record-light" aria-hidden="true" />
        <strong data-testid="recorder-state">{known ? 'No recorder' : 'Waiting for the operator…'}</strong>
      </div>
      <p class="small muted">
        {dir === null
          ? 'To record, start again with a folder: record.dir=recordings'
          : `You can play and export the recordings in ${dir}.`}
      </p>
    </section>
  );
}
