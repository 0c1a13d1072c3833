import type { Series } from './series.ts';

const RANGE: [low: number, high: number] = [0, 0];

/** Draws the curves of a window that ends with the newest sample; returns their range, which the next call overwrites. */
export function drawSeries(
  canvas: HTMLCanvasElement,
  series: Series,
  colours: readonly string[],
  windowS: number,
): readonly [low: number, high: number] {
  const scale = devicePixelRatio;
  const width = Math.round(canvas.clientWidth * scale);
  const height = Math.round(canvas.clientHeight * scale);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const ink = canvas.getContext('2d');
  const endS = series.count === 0 ? 0 : series.timeS(series.count - 1);
  const from = firstSince(series, endS - windowS);
  findRange(series, from);
  const [low, high] = RANGE;
  if (ink === null || width === 0 || !Number.isFinite(low)) return RANGE;
  ink.clearRect(0, 0, width, height);
  ink.lineWidth = 1.5 * scale;
  const spread = Math.max(high - low, 1e-6);
  const [margin, tall] = [2 * scale, height - 4 * scale];
  for (let curve = 0; curve < series.curves; curve++) {
    ink.strokeStyle = colours[curve % colours.length]!;
    // Joints beyond the sixth have the same colours, dashed.
    ink.setLineDash(curve < colours.length ? SOLID : DASHED);
    ink.beginPath();
    let isDown = false;
    for (let at = from; at < series.count; at++) {
      const value = series.value(curve, at);
      const x = width * (1 - (endS - series.timeS(at)) / windowS);
      const y = margin + tall * (1 - (value - low) / spread);
      if (Number.isNaN(value)) isDown = false;
      else if (isDown) ink.lineTo(x, y);
      else {
        ink.moveTo(x, y);
        isDown = true;
      }
    }
    ink.stroke();
  }
  return RANGE;
}

const SOLID: number[] = [];
const DASHED = [4, 3];

function firstSince(series: Series, timeS: number): number {
  let at = 0;
  while (at < series.count && series.timeS(at) < timeS) at++;
  return at;
}

function findRange(series: Series, from: number): void {
  RANGE[0] = Number.POSITIVE_INFINITY;
  RANGE[1] = Number.NEGATIVE_INFINITY;
  for (let curve = 0; curve < series.curves; curve++)
    for (let at = from; at < series.count; at++) {
      const value = series.value(curve, at);
      if (value < RANGE[0]) RANGE[0] = value;
      if (value > RANGE[1]) RANGE[1] = value;
    }
}
