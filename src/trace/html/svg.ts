/** A little SVG, as text. Widths are in drawing units; the drawing fills its column. */

export const WIDTH = 1080;
export const LEFT = 56;
export const RIGHT = 16;

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** A tenth of a unit is finer than any screen. */
export const round = (x: number): string => (Math.round(x * 10) / 10).toString();

export interface Scale {
  (value: number): number;
  ticks: number[];
}

export function linear(low: number, high: number, from: number, to: number, count: number): Scale {
  const span = high > low ? high - low : 1;
  const scale = (value: number) => from + ((value - low) / span) * (to - from);
  return Object.assign(scale, { ticks: niceTicks(low, low + span, count) });
}

/** `low` is above 0; smaller values are drawn at `low`. */
export function logarithmic(low: number, high: number, from: number, to: number): Scale {
  const span = Math.log(Math.max(high, low * 1.5) / low);
  const scale = (value: number) => from + (Math.log(Math.max(value, low) / low) / span) * (to - from);
  const ticks: number[] = [];
  for (let decade = 10 ** Math.floor(Math.log10(low)); decade <= high; decade *= 10)
    for (const step of [1, 2, 5])
      if (decade * step >= low && decade * step <= high) ticks.push(decade * step);
  return Object.assign(scale, { ticks: thinned(ticks) });
}

const thinned = (ticks: number[]): number[] =>
  ticks.length <= 8 ? ticks : ticks.filter((tick) => /^1(e|0*$|$)|^0\.0*1$/.test(String(tick)));

function niceTicks(low: number, high: number, count: number): number[] {
  const raw = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw) ?? raw;
  const ticks: number[] = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + step * 1e-9; tick += step) ticks.push(tick);
  return ticks;
}

/** Time steps that people are used to. */
export function timeTicks(endS: number, count: number): number[] {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400];
  const step = steps.find((candidate) => endS / candidate <= count) ?? 28_800;
  return Array.from({ length: Math.floor(endS / step) + 1 }, (_, i) => i * step);
}

/** A line that breaks where a value is unknown. */
export function linePath(points: readonly (readonly [number, number])[]): string {
  let path = '';
  let pen = 'M';
  for (const [x, y] of points) {
    if (Number.isNaN(y)) {
      pen = 'M';
      continue;
    }
    path += `${pen}${round(x)} ${round(y)}`;
    pen = 'L';
  }
  return path;
}

/** The area between two lines over the same x values; it breaks where a value is unknown. */
export function bandPath(points: readonly (readonly [x: number, low: number, high: number])[]): string {
  let path = '';
  let piece: (readonly [number, number, number])[] = [];
  const close = () => {
    if (piece.length === 0) return;
    const top = piece.map(([x, , high]) => `${round(x)} ${round(high)}`).join('L');
    const back = piece
      .toReversed()
      .map(([x, low]) => `${round(x)} ${round(low)}`)
      .join('L');
    path += `M${top}L${back}Z`;
    piece = [];
  };
  for (const point of points) {
    if (Number.isNaN(point[1]) || Number.isNaN(point[2])) close();
    else piece.push(point);
  }
  close();
  return path;
}

export function svg(height: number, label: string, body: string, attributes = ''): string {
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeHtml(label)}" ${attributes}>${body}</svg>`;
}

export function text(x: number, y: number, words: string, attributes = ''): string {
  return `<text x="${round(x)}" y="${round(y)}" ${attributes}>${escapeHtml(words)}</text>`;
}

export function rect(
  x: number,
  y: number,
  width: number,
  height: number,
  attributes = '',
  title = '',
): string {
  const shape = `<rect x="${round(x)}" y="${round(y)}" width="${round(Math.max(0, width))}" height="${round(height)}" ${attributes}`;
  return title === '' ? `${shape}/>` : `${shape}><title>${escapeHtml(title)}</title></rect>`;
}
