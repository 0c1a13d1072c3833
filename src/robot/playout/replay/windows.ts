/** Median of the values up to `half` places away; fewer at the ends. */
export function centredMedian(values: Float64Array, half: number): Float64Array {
  const out = new Float64Array(values.length);
  const sorted = new Float64Array(2 * half + 1);
  let count = 0;
  const place = (value: number) => {
    let low = 0;
    for (let high = count; low < high; ) {
      const middle = (low + high) >>> 1;
      if (sorted[middle]! < value) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  for (let i = -half; i < values.length; i++) {
    if (i - half - 1 >= 0) {
      const leaving = place(values[i - half - 1]!);
      sorted.copyWithin(leaving, leaving + 1, count--);
    }
    if (i + half < values.length) {
      const at = place(values[i + half]!);
      sorted.copyWithin(at + 1, at, count++);
      sorted[at] = values[i + half]!;
    }
    if (i >= 0) out[i] = sorted[count >> 1]!;
  }
  return out;
}

/** Least of the values up to `half` places away. */
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
