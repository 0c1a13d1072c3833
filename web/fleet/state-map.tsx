import { rowHeightPx } from './robot-list.tsx';
import { type Shown, stateLabel, TONES, type Tone } from './robot-status.ts';
import type { FleetStore } from './store.ts';

interface Props {
  store: FleetStore;
  all: readonly Shown[];
  matching: readonly Shown[];
  root: HTMLElement;
}

/** Above this number of robots the tiles are smaller. */
const MANY = 240;

/** Overview of all robots: a count per state, and one tile per robot in order of name. */
export function StateMap({ store, all, matching, root }: Props) {
  const counts = store.counts(all);
  const { tone: chosen, selected } = store.state;
  const shown = new Set(matching.map(({ robot }) => robot));
  const toggle = (tone: Tone) => store.set({ tone: chosen === tone ? null : tone });
  const find = (robot: string | undefined) => {
    if (robot !== undefined) goTo(store, matching, robot, root);
  };
  const summary = TONES.filter((tone) => counts[tone] > 0).map(
    (tone) => `${counts[tone]} ${stateLabel(tone)}`,
  );
  return (
    <section class="card fleet-map" aria-label="States">
      <fieldset class="fleet-counts" aria-label="Filter by state">
        {TONES.map((tone) => (
          <button
            key={tone}
            type="button"
            data-tone={tone}
            data-testid={`tone-${tone}`}
            aria-pressed={chosen === tone}
            onClick={() => toggle(tone)}
          >
            <i aria-hidden="true" />
            <b>{counts[tone]}</b>
            <span>{stateLabel(tone)}</span>
          </button>
        ))}
      </fieldset>
      {/* Keyboard users have the list below. */}
      <div
        class={all.length > MANY ? 'fleet-tiles many' : 'fleet-tiles'}
        data-testid="fleet-map"
        role="img"
        aria-label={`Robot states: ${summary.join(', ') || 'no robots'}`}
        onPointerUp={({ target }) => find((target as HTMLElement).dataset['robot'])}
      >
        {all.map(({ robot, tone, state, lease }) => (
          <i
            key={robot}
            data-robot={robot}
            data-tone={tone}
            class={`${shown.has(robot) ? '' : 'dim'}${robot === selected ? ' selected' : ''}${lease ? ' held' : ''}`}
            title={`${robot}: ${stateLabel(tone === 'gone' ? tone : state)}${lease ? `, ${lease.user}` : ''}`}
          />
        ))}
      </div>
    </section>
  );
}

/** Scrolls to a robot's row; replaces the search if it hides the robot. */
function goTo(store: FleetStore, matching: readonly Shown[], robot: string, root: HTMLElement): void {
  const at = matching.findIndex((shown) => shown.robot === robot);
  if (at < 0) return store.set({ query: robot, tone: null, selected: robot });
  store.set({ selected: robot });
  const list = root.querySelector<HTMLElement>('.fleet-rows');
  if (list === null) return;
  const topPx = list.offsetTop + at * rowHeightPx();
  root.scrollTo({ top: topPx - root.clientHeight / 2, behavior: 'smooth' });
}
