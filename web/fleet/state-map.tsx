import { rowHeightPx } from './robot-list.tsx';
import type { FleetStore } from './store.ts';
import { type Shown, stateWord, TONES, type Tone } from './words.ts';

interface Props {
  store: FleetStore;
  all: readonly Shown[];
  matching: readonly Shown[];
  root: HTMLElement;
}

/** Above so many robots the tiles are smaller. */
const MANY = 240;

/** All robots at a glance: how many are in which state, and one tile for each, by name. */
export function StateMap({ store, all, matching, root }: Props) {
  const counts = store.counts(all);
  const { tone: chosen, selected } = store.state;
  const shown = new Set(matching.map(({ robot }) => robot));
  const toggle = (tone: Tone) => store.set({ tone: chosen === tone ? null : tone });
  const find = (robot: string | undefined) => {
    if (robot !== undefined) goTo(store, matching, robot, root);
  };
  const summary = TONES.filter((tone) => counts[tone] > 0).map(
    (tone) => `${counts[tone]} ${stateWord(tone)}`,
  );
  return (
    <section class="card fleet-map" aria-label="States">
      <fieldset class="fleet-counts" aria-label="Show only robots in a state">
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
            <span>{stateWord(tone)}</span>
          </button>
        ))}
      </fieldset>
      {/* The list below is the same for those who use a keyboard. */}
      <div
        class={all.length > MANY ? 'fleet-tiles many' : 'fleet-tiles'}
        data-testid="fleet-map"
        role="img"
        aria-label={`Map of states: ${summary.join(', ') || 'no robots'}`}
        onPointerUp={({ target }) => find((target as HTMLElement).dataset['robot'])}
      >
        {all.map(({ robot, tone, state, lease }) => (
          <i
            key={robot}
            data-robot={robot}
            data-tone={tone}
            class={`${shown.has(robot) ? '' : 'dim'}${robot === selected ? ' selected' : ''}${lease ? ' held' : ''}`}
            title={`${robot}: ${tone === 'gone' ? 'gone' : stateWord(state)}${lease ? `, ${lease.user}` : ''}`}
          />
        ))}
      </div>
    </section>
  );
}

/** Brings a robot's row into sight, whatever the search says. */
function goTo(store: FleetStore, matching: readonly Shown[], robot: string, root: HTMLElement): void {
  const at = matching.findIndex((shown) => shown.robot === robot);
  if (at < 0) return store.set({ query: robot, tone: null, selected: robot });
  store.set({ selected: robot });
  const list = root.querySelector<HTMLElement>('.fleet-rows');
  if (list === null) return;
  const topPx = list.offsetTop + at * rowHeightPx();
  root.scrollTo({ top: topPx - root.clientHeight / 2, behavior: 'smooth' });
}
