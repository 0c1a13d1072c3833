/**
 * Metres and rotation vector (base frame) that bring the pose `flange` (3×4) to `placeM` and `matrix` (3×3).
 * Hot path: nothing allocates.
 */
export function poseError(
  flange: Float64Array,
  placeM: Float64Array,
  matrix: Float64Array,
  out: Float64Array,
): void {
  for (let i = 0; i < 3; i++) out[i] = placeM[i]! - flange[4 * i + 3]!;
  let trace = 0;
  // The skew part of target · flangeᵀ, column by column: half the sum of flange axis × target axis.
  let x = 0;
  let y = 0;
  let z = 0;
  for (let column = 0; column < 3; column++) {
    const fx = flange[column]!;
    const fy = flange[4 + column]!;
    const fz = flange[8 + column]!;
    const tx = matrix[column]!;
    const ty = matrix[3 + column]!;
    const tz = matrix[6 + column]!;
    trace += fx * tx + fy * ty + fz * tz;
    x += fy * tz - fz * ty;
    y += fz * tx - fx * tz;
    z += fx * ty - fy * tx;
  }
  const sine = Math.sqrt(x * x + y * y + z * z) / 2;
  const cosine = (trace - 1) / 2;
  if (sine < 1e-9 && cosine < 0) {
    halfTurn(flange, matrix, out);
    return;
  }
  const scale = sine < 1e-9 ? 0.5 : Math.atan2(sine, cosine) / (2 * sine);
  out[3] = x * scale;
  out[4] = y * scale;
  out[5] = z * scale;
}

/** Half a turn: the axis is the longest column of target · flangeᵀ + 1. */
function halfTurn(flange: Float64Array, matrix: Float64Array, out: Float64Array): void {
  let longest = 0;
  for (let column = 0; column < 3; column++) {
    let lengthSq = 0;
    const at = column * 4;
    for (let row = 0; row < 3; row++) {
      const m =
        matrix[3 * row]! * flange[at]! +
        matrix[3 * row + 1]! * flange[at + 1]! +
        matrix[3 * row + 2]! * flange[at + 2]!;
      lengthSq += (m + (row === column ? 1 : 0)) ** 2;
    }
    if (lengthSq <= longest) continue;
    longest = lengthSq;
    const scale = Math.PI / Math.sqrt(lengthSq);
    for (let row = 0; row < 3; row++) {
      const m =
        matrix[3 * row]! * flange[at]! +
        matrix[3 * row + 1]! * flange[at + 1]! +
        matrix[3 * row + 2]! * flange[at + 2]!;
      out[3 + row] = (m + (row === column ? 1 : 0)) * scale;
    }
  }
}
