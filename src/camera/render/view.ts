/** A pinhole camera: x to the right, y down, z into the picture. */
export interface View {
  /** Rows are the camera's axes in the base frame. */
  readonly axes: Float64Array;
  readonly eyeM: Float64Array;
  /** Pixels per unit of x / z. */
  readonly focalPx: number;
  readonly centreX: number;
  readonly centreY: number;
}

export const NEAR_M = 0.03;

export const emptyView = (widthPx: number, heightPx: number, fovRad: number): View => ({
  axes: new Float64Array(9),
  eyeM: new Float64Array(3),
  focalPx: widthPx / 2 / Math.tan(fovRad / 2),
  centreX: widthPx / 2,
  centreY: heightPx / 2,
});

/** Puts the camera at `eyeM`, looking along `forward`, with `up` upwards in the picture. */
export function aim(
  view: View,
  eyeM: ArrayLike<number>,
  forward: ArrayLike<number>,
  up: ArrayLike<number>,
): void {
  const z = unit([forward[0]!, forward[1]!, forward[2]!]);
  let x = cross(z, [up[0]!, up[1]!, up[2]!]);
  // Looking straight up or down: any right-hand direction will do.
  if (Math.hypot(...x) < 1e-6) x = cross(z, [0, 1, 1e-3]);
  x = unit(x);
  const y = cross(z, x);
  view.axes.set([...x, ...y, ...z]);
  view.eyeM.set([eyeM[0]!, eyeM[1]!, eyeM[2]!]);
}

/** Transforms a point from the base frame to the camera frame, written at `offset` of `out`. */
export function toCamera(
  view: View,
  x: number,
  y: number,
  z: number,
  out: Float64Array,
  offset: number,
): void {
  const { axes, eyeM } = view;
  const [dx, dy, dz] = [x - eyeM[0]!, y - eyeM[1]!, z - eyeM[2]!];
  for (let row = 0; row < 3; row++)
    out[offset + row] = axes[3 * row]! * dx + axes[3 * row + 1]! * dy + axes[3 * row + 2]! * dz;
}

const unit = (v: number[]): number[] => v.map((value) => value / Math.hypot(...v));
const cross = (a: readonly number[], b: readonly number[]): number[] => [
  a[1]! * b[2]! - a[2]! * b[1]!,
  a[2]! * b[0]! - a[0]! * b[2]!,
  a[0]! * b[1]! - a[1]! * b[0]!,
];
