import { Component } from 'preact';
import { rowHeightPx } from './robot-list.tsx';
import { type Shown, stateLabel, TONES, type Tone } from './robot-status.ts';
import type { FleetStore } from './store.ts';
import { TileCanvas } from './tile-canvas.tsx';

interface Props {
  store: FleetStore;
  all: readonly Shown[];
  matching: readonly Shown[];
  root: HTMLElement;
}

/** Above this number of robots the tiles are smaller. */
const MANY = 240;

/** Above this number the tiles are drawn. */
const TOO_MANY = 1000;

/** Overview of all robots: a count per state, and one tile per robot in order of name. Redrawn when they change. */
export class StateMap extends Component<Props> {
  #drawn = '';

  override shouldComponentUpdate({ all, matching, store }: Props): boolean {
    const { tone, selected } = store.state;
    const state = `${tone} ${selected}`;
    const isSame = all === this.props.all && matching === this.props.matching && state === this.#drawn;
    this.#drawn = state;
    return !isSame;
  }

  override render() {
    return <Overview {...this.props} />;
  }
}

function Overview({ store, all, matching, root }: Props) {
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
  const label = `Robot states: ${summary.join(', ') || 'no robots'}`;
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
      {all.length > TOO_MANY ? (
        <TileCanvas all={all} shown={shown} label={label} onFind={find} />
      ) : (
        <Tiles all={all} shown={shown} selected={selected} label={label} onFind={find} />
      )}
    </section>
  );
}

interface TilesProps {
  all: readonly Shown[];
  shown: ReadonlySet<string>;
  selected: string | null;
  label: string;
  onFind(robot: string | undefined): void;
}

function Tiles({ all, shown, selected, label, onFind }: TilesProps) {
  return (
    <div
      class={all.length > MANY ? 'fleet-tiles many' : 'fleet-tiles'}
      data-testid="fleet-map"
      role="img"
      aria-label={label}
      onPointerUp={({ target }) => onFind((target as HTMLElement).dataset['robot'])}
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
