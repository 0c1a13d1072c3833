import { percentiles } from '../../src/core/statistics/percentiles.ts';
import { element, setText } from '../dom.ts';
import { milliseconds } from '../panels/labels.ts';
import { ceilingFor, css } from './plot.ts';

const BINS = 48;
const FOOT_PX = 18;

/** Histogram of one-way times. The last bin includes everything beyond the axis. */
export class Histogram {
  readonly #canvas = element('lat-histogram', HTMLCanvasElement);
  readonly #note = element('lat-histogram-note', HTMLElement);
  readonly #counts = new Uint32Array(BINS);

  draw(values: readonly number[]): void {
    const found = percentiles(values);
    setText(this.#note, `${values.length.toLocaleString('en')} commands`);
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    if (width === 0) return;
    const context = this.#clear(width, height);
    if (context === null || found === null) return;
    const ceiling = ceilingFor(Math.max(found.p99 * 1.2, found.p50 * 1.5, 1));
    const counts = this.#counts.fill(0);
    for (const value of values)
      counts[Math.min(BINS - 1, Math.max(0, Math.floor((value / ceiling) * BINS)))]!++;
    const most = Math.max(...counts);
    const floor = height - FOOT_PX;
    context.fillStyle = css('--accent');
    counts.forEach((count, i) => {
      // Square root scale, so that rare values stay visible.
      const high = Math.sqrt(count / most) * (floor - 14);
      if (count > 0) context.fillRect((i * width) / BINS + 0.5, floor - high, width / BINS - 1, high);
    });
    for (const [name, value] of [
      ['p50', found.p50],
      ['p95', found.p95],
      ['p99', found.p99],
    ] as const)
      this.#mark(context, name, (value / ceiling) * width, floor);
    this.#axis(context, ceiling, width, height);
  }

  #clear(width: number, height: number): CanvasRenderingContext2D | null {
    const ratio = devicePixelRatio;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.#canvas.width !== wide) this.#canvas.width = wide;
    if (this.#canvas.height !== high) this.#canvas.height = high;
    const context = this.#canvas.getContext('2d');
    context?.setTransform(ratio, 0, 0, ratio, 0, 0);
    context?.clearRect(0, 0, width, height);
    return context;
  }

  #mark(context: CanvasRenderingContext2D, name: string, x: number, floor: number): void {
    context.fillStyle = css('--text');
    context.fillRect(Math.round(x), 12, 1, floor - 12);
    context.font = '10px system-ui, sans-serif';
    context.textAlign = name === 'p50' ? 'right' : 'left';
    if (name !== 'p95') context.fillText(name, x + (name === 'p50' ? -3 : 3), 10);
  }

  #axis(context: CanvasRenderingContext2D, ceiling: number, width: number, height: number): void {
    context.fillStyle = css('--line-strong');
    context.fillRect(0, height - FOOT_PX, width, 1);
    context.fillStyle = css('--muted');
    context.font = '11px system-ui, sans-serif';
    for (const [share, align] of [
      [0, 'left'],
      [0.5, 'center'],
      [1, 'right'],
    ] as const) {
      context.textAlign = align;
      const text = milliseconds(ceiling * share, ceiling < 5 && share > 0 ? 1 : 0);
      context.fillText(share === 1 ? `${text} ms` : text, share * width, height - 4);
    }
  }
}
