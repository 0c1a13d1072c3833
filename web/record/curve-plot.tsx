import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { EpisodeView } from '../../src/messages/console.ts';
import { css } from '../latency/plot.ts';
import { onThemeChange } from '../shell/theme.ts';
import type { CurveSet } from './curves.ts';

interface Props {
  view: EpisodeView;
  set: CurveSet;
  at: number;
  onPick(at: number): void;
}

/** One set of curves of an episode: measured as lines, commanded dashed. */
export function CurvePlot({ view, set, at, onPick }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const position = useRef(0);
  position.current = view.rows[at]?.timeNs ?? 0;
  useEffect(() => {
    if (box.current === null) return;
    const made = createPlot(box.current, view, set, () => position.current / 1e9, onPick);
    plot.current = made;
    const resized = new ResizeObserver(() => {
      // It may report once more after this plot has gone.
      const { clientWidth: width = 0, clientHeight: height = 0 } = box.current ?? {};
      if (width > 0) made.setSize({ width, height });
    });
    resized.observe(box.current);
    onThemeChange(() => plot.current === made && made.redraw(false, true));
    return () => {
      resized.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [view]);
  useEffect(() => plot.current?.redraw(false, false), [at]);
  const named = set.curves.filter(({ dashed }) => !dashed);
  return (
    <div class="curves">
      <h4 class="curve-title">
        {set.title} <span class="muted">{set.unit}</span>
      </h4>
      <div
        ref={box}
        class={`joint-plot ${set.title === 'Joints' ? '' : 'short'}`}
        data-testid={set.title === 'Joints' ? 'joint-plot' : `plot-${set.title.toLowerCase()}`}
        role="img"
        aria-label={`${set.title} over the episode`}
      />
      {named.length > 1 && (
        <ul class="joint-legend">
          {named.map(({ name, colour }) => (
            <li key={name}>
              <i class={`segment-${colour}`} />
              {name}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function createPlot(
  box: HTMLElement,
  { rows }: EpisodeView,
  set: CurveSet,
  positionS: () => number,
  onPick: (at: number) => void,
): uPlot {
  const data: (number | null)[][] = [rows.map(({ timeNs }) => timeNs / 1e9)];
  const series: uPlot.Series[] = [{}];
  for (const { colour, dashed, of } of set.curves) {
    data.push(rows.map(of));
    const stroke = () => css(`--seg-${colour}`);
    series.push({
      stroke,
      width: dashed ? 1 : 1.5,
      points: { show: false },
      ...(dashed && { dash: [4, 4] }),
    });
  }
  const both = { font: '11px system-ui, sans-serif', stroke: () => css('--muted'), ticks: { show: false } };
  const made: uPlot = new uPlot(
    {
      width: box.clientWidth || 600,
      height: box.clientHeight || 200,
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
      padding: [10, 12, 0, 0],
      scales: { x: { time: false }, y: { range: (_, least, most) => rangeOf(least, most) } },
      axes: [
        { ...both, grid: { show: false }, size: 20, gap: 2, values: (_, at) => at.map((s) => `${s} s`) },
        {
          ...both,
          grid: { stroke: () => css('--line'), width: 1 },
          size: 46,
          gap: 6,
          space: 24,
          values: (_, at) => at.map(String),
        },
      ],
      series,
      hooks: { draw: [(plot) => drawPosition(plot, positionS())] },
    },
    data as uPlot.AlignedData,
    box,
  );
  made.over.addEventListener('click', () => onPick(made.cursor.idx ?? 0));
  return made;
}

/** Also for a curve that never changes. */
function rangeOf(least: number | null, most: number | null): [number, number] {
  const [from, to] = [least ?? 0, most ?? 0];
  const margin = Math.max(0.1 * (to - from), 0.05);
  return [from - margin, to + margin];
}

function drawPosition(plot: uPlot, positionS: number): void {
  const { ctx, bbox } = plot;
  const x = Math.round(plot.valToPos(positionS, 'x', true));
  if (!(x >= bbox.left - 1 && x <= bbox.left + bbox.width + 1)) return;
  ctx.save();
  ctx.fillStyle = css('--text');
  ctx.fillRect(x, bbox.top, Math.max(1, devicePixelRatio), bbox.height);
  ctx.restore();
}
