import { render } from 'preact';
import type { ExportJob, ReplayJob } from '../../src/messages/console.ts';
import type { RecordRequest } from '../../src/messages/recording.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { atMostEvery } from '../dom.ts';
import type { LazyPage, PageContext } from '../shell/lazy-page.ts';
import { DatasetCard } from './dataset-card.tsx';
import { EpisodeTable } from './episode-table.tsx';
import { ExportCard } from './export-card.tsx';
import { Playback } from './playback.tsx';
import { RecorderCard } from './recorder-card.tsx';
import type { SendReplay } from './replay-card.tsx';
import { episodeAfter, reviewOf } from './review-keys.ts';
import { type RecordState, RecordStore } from './store.ts';

const TELEMETRY_MS = 200;

export function openRecordPage(root: HTMLElement, context: PageContext): LazyPage {
  const send = (request: RecordRequest): void => {
    if (request.action === 'label') void store.label(request.episode, request.label);
    else context.send(request);
  };
  const store = new RecordStore(() => draw());
  const draw = (): void => render(<RecordPage store={store} send={send} sendReplay={context.send} />, root);
  let latest: Telemetry | null = null;
  const take = atMostEvery(TELEMETRY_MS, () => {
    const { record = null, robot, input } = latest!;
    const before = store.state.recorder;
    const robotState = robot?.state ?? 'disconnected';
    store.set({ recorder: record, robotState, inputs: input.available });
    if (before && record && before.state === 'recording' && record.state !== 'recording')
      setTimeout(() => void store.refresh(), 300);
  });
  let isShown = false;
  document.addEventListener('keydown', (event) => {
    const review = isShown ? reviewOf(event) : null;
    const { selected, list } = store.state;
    if (review === null || list === null) return;
    event.preventDefault();
    const mayEdit = selected !== null && store.state.watching?.isViewer !== true;
    if (review.kind === 'label') {
      if (mayEdit) send({ kind: 'record', action: 'label', episode: selected, label: review.label });
    } else if (review.kind === 'delete') {
      if (mayEdit) void store.delete(selected);
    } else {
      const next = episodeAfter(list.episodes, selected, review.by);
      if (next !== null) void store.select(next);
    }
  });
  draw();
  return {
    setShown(shown) {
      isShown = shown;
      if (!shown) return;
      void store.refresh();
      openNamed(store);
      void store.refreshDatasets();
    },
    show(telemetry, nowMs) {
      latest = telemetry;
      take(nowMs);
    },
    setModel: (model) => store.set({ model }),
    setWatching: (watching) => store.set({ watching }),
    replayed: (replay: ReplayJob) => store.set({ replay }),
    exported: (job: ExportJob) => {
      const ended = store.state.job?.state === 'running' && job.state !== 'running';
      store.set({ job });
      if (ended) void store.refreshDatasets();
    },
  };
}

/** `#/record/<id>` opens that episode. */
function openNamed(store: RecordStore): void {
  const [, name] = /^#\/record\/([\w.-]+)$/.exec(location.hash) ?? [];
  if (name !== undefined) void store.select(name);
}

/** On a phone the episode is below the list. */
function bringIntoView(): void {
  if (matchMedia('(max-width: 820px)').matches) document.getElementById('playback')?.scrollIntoView();
}

interface PageProps {
  store: RecordStore;
  send(request: RecordRequest): void;
  sendReplay: SendReplay;
}

function RecordPage({ store, send, sendReplay }: PageProps) {
  const { state } = store;
  const { view, viewProblem, selected, list, watching } = state;
  const isViewer = watching?.isViewer ?? false;
  return (
    <>
      <header class="page-head">
        <div>
          <h2>Record</h2>
          <p class="muted">{list?.dir ?? 'Episodes with commands, measurements and camera frames'}</p>
        </div>
        <div class="page-tools">
          <button type="button" class="plain" onClick={() => void store.refresh()}>
            Refresh
          </button>
        </div>
      </header>
      <div class="record-grid">
        <div class="record-side">
          {watching && (
            <p class="small watching" data-testid="record-watching">
              <span>{watching.note}</span>
              {!isViewer && (
                <button type="button" class="plain" onClick={() => watching.take()}>
                  Take over
                </button>
              )}
            </p>
          )}
          <div inert={watching !== null}>
            <RecorderCard state={state} send={send} />
          </div>
          <section class="card list-card" aria-labelledby="episodes-title">
            <header class="card-head">
              <h3 id="episodes-title">Episodes</h3>
              <span class="muted">{list ? list.episodes.length : ''}</span>
            </header>
            <p class="small muted review-keys">
              Keys: <kbd>N</kbd> next, <kbd>P</kbd> previous, <kbd>K</kbd> keep, <kbd>D</kbd> drop,{' '}
              <kbd>S</kbd> success, <kbd>F</kbd> failure, <kbd>Del</kbd> delete. An export leaves dropped
              episodes out.
            </p>
            <Undo state={state} onUndo={() => void store.undo()} />
            <EpisodeTable state={state} onSelect={(id) => void store.select(id).then(bringIntoView)} />
          </section>
          <div class="record-side" inert={isViewer}>
            <ExportCard state={state} onExport={(name) => void store.export(name)} />
            <DatasetCard store={store} />
          </div>
        </div>
        <div class="record-main">
          {view ? (
            <Playback
              key={`${view.info.id} ${view.info.rows}`}
              view={view}
              other={state.other}
              model={state.model}
              episodes={list?.episodes ?? []}
              onCompare={(id) => void store.compare(id)}
              send={send}
              robot={state}
              watching={watching}
              sendReplay={sendReplay}
              onTrim={({ fromS, toS }) => void store.edit({ edit: 'trim', id: view.info.id, fromS, toS })}
              onDelete={() => void store.delete(view.info.id)}
            />
          ) : (
            <section class="card empty-card" aria-label="Playback">
              <p class={viewProblem ? 'bad' : 'muted'}>
                {viewProblem || (selected ? 'Loading the episode…' : 'Select an episode to play it.')}
              </p>
            </section>
          )}
        </div>
      </div>
    </>
  );
}

function Undo({ state: { lastEdit, editProblem }, onUndo }: { state: RecordState; onUndo(): void }) {
  if (editProblem !== '')
    return (
      <p class="small bad" role="alert">
        {editProblem}
      </p>
    );
  if (lastEdit === null) return null;
  return (
    <p class="small undo" role="status" data-testid="undo">
      <span>{lastEdit.text}</span>
      <button type="button" class="text-button" data-testid="undo-edit" onClick={onUndo}>
        Undo
      </button>
    </p>
  );
}
