import { RobotRow } from './robot-row.tsx';
import { type Shown, shownOf } from './robot-status.ts';
import type { FleetStore } from './store.ts';

const narrow = matchMedia('(max-width: 820px)');
/** Must match fleet.css. */
const ROW_PX = 54;
const NARROW_ROW_PX = 138;
/** Rendered beyond the visible edges. */
const EXTRA_ROWS = 6;

export const rowHeightPx = (): number => (narrow.matches ? NARROW_ROW_PX : ROW_PX);

interface Props {
  store: FleetStore;
  robots: readonly Shown[];
  total: number;
  /** The scrolling element. */
  root: HTMLElement;
}

/** Renders only the visible rows; the list keeps its full height. */
export function RobotList({ store, robots, total, root }: Props) {
  const nowMs = performance.now();
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
        <span>Lease</span>
        <span>Link</span>
      </div>
      <ul class="fleet-rows" data-testid="fleet-list" style={{ height: `${robots.length * heightPx}px` }}>
        {robots.slice(first, last).map((known, i) => (
          <RobotRow
            key={known.robot}
            store={store}
            shown={shownOf(known, nowMs)}
            topPx={(first + i) * heightPx}
            at={first + i}
            of={robots.length}
          />
        ))}
      </ul>
      {robots.length === 0 && <p class="empty">{total === 0 ? 'No robots yet.' : 'No robot matches.'}</p>}
    </section>
  );
}
