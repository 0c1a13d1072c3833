import { render } from 'preact';
import type { FleetLink } from '../link/fleet-link.ts';
import type { LazyPage } from '../shell/lazy-page.ts';
import { RecordingsTable } from './recordings.tsx';
import { RobotList } from './robot-list.tsx';
import { StateMap } from './state-map.tsx';
import { FleetStore } from './store.ts';
import { TakeOverDialog } from './take-over-dialog.tsx';

/** How often the list redraws. */
const DRAW_MS = 250;

export function openFleetPage(root: HTMLElement, { fleet }: { fleet: FleetLink | null }): LazyPage {
  if (fleet === null) throw new Error('this console has no fleet');
  let shown = false;
  let waiting = 0;
  const draw = (): void => {
    waiting = 0;
    if (shown) render(<FleetPage store={store} root={root} />, root);
  };
  // User actions redraw with the next frame; robot updates wait for the timer.
  const soon = (): void => {
    if (waiting === 0) waiting = requestAnimationFrame(draw);
  };
  const store = new FleetStore(fleet, soon);
  fleet.onMessage(({ kind }) => kind !== 'robots' && soon());
  fleet.onStatus(soon);
  setInterval(draw, DRAW_MS);
  root.addEventListener('scroll', soon, { passive: true });
  window.addEventListener('resize', soon);
  return {
    setShown(is) {
      shown = is;
      draw();
    },
    show() {},
  };
}

function FleetPage({ store, root }: { store: FleetStore; root: HTMLElement }) {
  const { view, query } = store.state;
  const all = store.all(performance.now());
  const robots = store.matching(all);
  const online = all.filter(({ tone }) => tone !== 'gone').length;
  const summary = `${online} of ${all.length} ${all.length === 1 ? 'robot' : 'robots'} online`;
  const choose = (chosen: 'robots' | 'recordings') => {
    store.set({ view: chosen });
    if (chosen === 'recordings') void store.loadRecordings();
  };
  return (
    <>
      <header class="page-head fleet-head">
        <div>
          <h2>Fleet</h2>
          <p class="muted" data-testid="fleet-summary">
            {summary}
          </p>
        </div>
        <div class="page-tools">
          <input
            type="search"
            class="fleet-search"
            data-testid="fleet-search"
            aria-label={view === 'robots' ? 'Search robots' : 'Search recordings'}
            placeholder={view === 'robots' ? 'name, model, state, user' : 'robot, task, label, location'}
            value={query}
            onInput={({ currentTarget }) => store.set({ query: currentTarget.value })}
          />
          <fieldset class="segmented" aria-label="View">
            {(['robots', 'recordings'] as const).map((name) => (
              <button
                key={name}
                type="button"
                data-testid={`fleet-${name}`}
                aria-pressed={view === name}
                onClick={() => choose(name)}
              >
                {name === 'robots' ? 'Robots' : 'Recordings'}
              </button>
            ))}
          </fieldset>
        </div>
      </header>
      {view === 'recordings' ? (
        <RecordingsTable store={store} />
      ) : (
        <>
          <StateMap store={store} all={all} root={root} matching={robots} />
          <RobotList store={store} robots={robots} total={all.length} root={root} />
        </>
      )}
      <TakeOverDialog store={store} />
    </>
  );
}
