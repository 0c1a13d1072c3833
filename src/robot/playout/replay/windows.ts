/** Minimum over the values up to `half` positions away. */
export function windowMinimum(values: Float64Array, half: number): Float64Array {
  const out = new Float64Array(values.length);
  const queue = new Int32Array(values.length);
  let head = 0;
  let tail = 0;
  let next = 0;
  for (let i = 0; i < values.length; i++) {
    for (; next < values.length && next <= i + half; next++) {
      while (tail > head && values[queue[tail - 1]!]! >= values[next]!) tail--;
      queue[tail++] = next;
    }
    while (queue[head]! < i - half) head++;
    out[i] = values[queue[head]!]!;
  }
  return out;
}
