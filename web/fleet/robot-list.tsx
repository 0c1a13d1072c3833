import { RobotRow } from './robot-row.tsx';
import type { FleetStore } from './store.ts';
import type { Shown } from './words.ts';

const narrow = matchMedia('(max-width: 820px)');
/** As in fleet.css. */
const ROW_PX = 54;
const NARROW_ROW_PX = 138;
/** Beyond the edges of what is seen. */
const EXTRA_ROWS = 6;

export const rowHeightPx = (): number => (narrow.matches ? NARROW_ROW_PX : ROW_PX);

interface Props {
  store: FleetStore;
  robots: readonly Shown[];
  total: number;
  /** What scrolls. */
  root: HTMLElement;
}

/** Only the rows in sight are in the document; the page is as tall as if all were. */
export function RobotList({ store, robots, total, root }: Props) {
  const heightPx = rowHeightPx();
  const list = root.querySelector<HTMLElement>('.fleet-rows');
  const abovePx = Math.max(0, root.scrollTop - (list?.offsetTop ?? 0));
  const first = Math.max(0, Math.floor(abovePx / heightPx) - EXTRA_ROWS);
  const last = first + Math.ceil((root.clientHeight || innerHeight) / heightPx) + 2 * EXTRA_ROWS;
  return (
    <section class="card fleet-list" aria-label="Robots">
      <div class="fleet-row fleet-titles" aria-hidden="true">
        <span>Robot</span>
        <span>State</span>
        <span>Driven by</span>
        <span>Link</span>
      </div>
      <ul class="fleet-rows" data-testid="fleet-list" style={{ height: `${robots.length * heightPx}px` }}>
        {robots.slice(first, last).map((shown, i) => (
          <RobotRow
            key={shown.robot}
            store={store}
            shown={shown}
            topPx={(first + i) * heightPx}
            at={first + i}
            of={robots.length}
          />
        ))}
      </ul>
      {robots.length === 0 && (
        <p class="empty">{total === 0 ? 'No robot was heard of yet.' : 'No robot is like that.'}</p>
      )}
    </section>
  );
}
