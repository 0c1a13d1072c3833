/** Rounds after which a solution is taken as it is; a handful is usual. */
const MAX_ROUNDS = 60;
/** A row violated by less than this is met. */
const MET = 1e-9;
const DEPENDENT = 1e-10;
const TINY = 1e-14;

/**
 * Minimises ½ xᵀHx − gᵀx subject to rows C x ≥ b, by the dual active-set method of Goldfarb and Idnani. H is symmetric
 * and positive definite. Deterministic; nothing allocates after construction.
 */
export class QuadraticProgram {
  readonly h: Float64Array;
  readonly g: Float64Array;
  readonly x: Float64Array;
  /** Rows of the constraints, consecutively, and their bounds. `rows` of them are valid. */
  readonly c: Float64Array;
  readonly b: Float64Array;
  rows = 0;
  /** Indices of the rows that hold the solution back; `actives` of them are valid. */
  readonly active: Int32Array;
  actives = 0;
  readonly size: number;
  readonly #inverse: Float64Array;
  /** H⁻¹ times each active row, and the multipliers. */
  readonly #inner: Float64Array;
  readonly #force: Float64Array;
  readonly #gram: Float64Array;
  readonly #share: Float64Array;
  readonly #direction: Float64Array;
  readonly #lower: Float64Array;
  readonly #isActive: Uint8Array;

  constructor(size: number, maxRows: number) {
    this.size = size;
    this.h = new Float64Array(size * size);
    this.g = new Float64Array(size);
    this.x = new Float64Array(size);
    this.c = new Float64Array(maxRows * size);
    this.b = new Float64Array(maxRows);
    this.active = new Int32Array(size + 1);
    this.#isActive = new Uint8Array(maxRows);
    this.#inverse = new Float64Array(size * size);
    this.#inner = new Float64Array((size + 1) * size);
    this.#force = new Float64Array(size + 1);
    this.#gram = new Float64Array((size + 1) * (size + 1));
    this.#share = new Float64Array(size + 1);
    this.#direction = new Float64Array(size);
    this.#lower = new Float64Array(size * size);
  }

  /** Adds a row, whose bound is the last of `b`, and returns where its coefficients go; −1 if there is no room. */
  row(): number {
    if (this.rows >= this.b.length) return -1;
    const at = this.rows++ * this.size;
    this.c.fill(0, at, at + this.size);
    return at;
  }

  /** False if the rows contradict each other; `x` then meets some of them only. */
  solve(): boolean {
    this.actives = 0;
    this.#isActive.fill(0, 0, this.rows);
    invert(this.h, this.#inverse, this.#lower, this.size);
    multiply(this.#inverse, this.g, 0, this.x, 0, this.size);
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const worst = this.#mostViolated();
      if (worst < 0) return true;
      if (!this.#enforce(worst)) return false;
    }
    return false;
  }

  #slack(row: number): number {
    let sum = -this.b[row]!;
    for (let i = 0; i < this.size; i++) sum += this.c[row * this.size + i]! * this.x[i]!;
    return sum;
  }

  #mostViolated(): number {
    let least = -MET;
    let worst = -1;
    for (let row = 0; row < this.rows; row++) {
      if (this.#isActive[row] === 1) continue;
      const slack = this.#slack(row);
      if (slack >= least) continue;
      least = slack;
      worst = row;
    }
    return worst;
  }

  /** Moves to meet a row, dropping active ones that stand against it. */
  #enforce(row: number): boolean {
    const { size } = this;
    let force = 0;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const own = this.actives * size;
      multiply(this.#inverse, this.c, row * size, this.#inner, own, size);
      this.#project();
      let along = 0;
      for (let i = 0; i < size; i++) along += this.#direction[i]! * this.c[row * size + i]!;
      // Nothing left of the row once the active ones are taken off: it depends on them.
      const full =
        along > DEPENDENT * this.#dot(row * size, own) ? -this.#slack(row) / along : Number.POSITIVE_INFINITY;
      const blocking = this.#blocking();
      const partial =
        blocking < 0 ? Number.POSITIVE_INFINITY : this.#force[blocking]! / this.#share[blocking]!;
      const step = Math.min(full, partial);
      if (step === Number.POSITIVE_INFINITY) return false;
      if (full < Number.POSITIVE_INFINITY)
        for (let i = 0; i < size; i++) this.x[i]! += step * this.#direction[i]!;
      for (let k = 0; k < this.actives; k++) this.#force[k]! -= step * this.#share[k]!;
      force += step;
      if (full <= partial) {
        this.#force[this.actives] = force;
        this.active[this.actives++] = row;
        this.#isActive[row] = 1;
        return true;
      }
      this.#drop(blocking);
    }
    return false;
  }

  /** The step direction towards a row inside the active ones, and the share of each of them in it. */
  #project(): void {
    const { size, actives } = this;
    const own = actives * size;
    for (let i = 0; i < size; i++) this.#direction[i] = this.#inner[own + i]!;
    if (actives === 0) return;
    for (let k = 0; k < actives; k++) {
      const at = this.active[k]! * size;
      for (let l = 0; l <= k; l++) this.#gram[k * actives + l] = this.#dot(at, l * size);
      this.#share[k] = this.#dot(at, own);
    }
    solveInPlace(this.#gram, this.#share, actives);
    for (let k = 0; k < actives; k++)
      for (let i = 0; i < size; i++) this.#direction[i]! -= this.#share[k]! * this.#inner[k * size + i]!;
  }

  #dot(rowAt: number, innerAt: number): number {
    let sum = 0;
    for (let i = 0; i < this.size; i++) sum += this.c[rowAt + i]! * this.#inner[innerAt + i]!;
    return sum;
  }

  /** The active row whose multiplier reaches zero first; −1: none does. */
  #blocking(): number {
    let least = Number.POSITIVE_INFINITY;
    let blocking = -1;
    for (let k = 0; k < this.actives; k++) {
      if (this.#share[k]! <= TINY) continue;
      const step = this.#force[k]! / this.#share[k]!;
      if (step >= least) continue;
      least = step;
      blocking = k;
    }
    return blocking;
  }

  #drop(k: number): void {
    this.#isActive[this.active[k]!] = 0;
    this.actives--;
    for (let l = k; l < this.actives; l++) {
      this.active[l] = this.active[l + 1]!;
      this.#force[l] = this.#force[l + 1]!;
      this.#inner.copyWithin(l * this.size, (l + 1) * this.size, (l + 2) * this.size);
    }
  }
}

/** y at `yAt` ← m · x at `xAt`, for a symmetric m. */
function multiply(
  m: Float64Array,
  x: Float64Array,
  xAt: number,
  y: Float64Array,
  yAt: number,
  n: number,
): void {
  for (let i = 0; i < n; i++) {
    let sum = 0;
    for (let k = 0; k < n; k++) sum += m[i * n + k]! * x[xAt + k]!;
    y[yAt + i] = sum;
  }
}

/** out ← h⁻¹ by Cholesky; `lower` is scratch. */
function invert(h: Float64Array, out: Float64Array, lower: Float64Array, n: number): void {
  for (let i = 0; i < n; i++) {
    for (let k = 0; k <= i; k++) {
      let sum = h[i * n + k]!;
      for (let l = 0; l < k; l++) sum -= lower[i * n + l]! * lower[k * n + l]!;
      lower[i * n + k] = i === k ? 1 / Math.sqrt(Math.max(sum, TINY)) : sum * lower[k * n + k]!;
    }
  }
  // `lower` holds L with its diagonal inverted. Each column of the inverse: L y = e, then Lᵀ x = y.
  for (let column = 0; column < n; column++) {
    for (let i = 0; i < n; i++) {
      let sum = i === column ? 1 : 0;
      for (let l = column; l < i; l++) sum -= lower[i * n + l]! * out[l * n + column]!;
      out[i * n + column] = i < column ? 0 : sum * lower[i * n + i]!;
    }
    for (let i = n - 1; i >= 0; i--) {
      let sum = out[i * n + column]!;
      for (let l = i + 1; l < n; l++) sum -= lower[l * n + i]! * out[l * n + column]!;
      out[i * n + column] = sum * lower[i * n + i]!;
    }
  }
}

/** x ← m⁻¹ x for a symmetric positive definite m given by its lower triangle, which is destroyed. */
function solveInPlace(m: Float64Array, x: Float64Array, n: number): void {
  for (let i = 0; i < n; i++) {
    for (let k = 0; k <= i; k++) {
      let sum = m[i * n + k]!;
      for (let l = 0; l < k; l++) sum -= m[i * n + l]! * m[k * n + l]!;
      m[i * n + k] = i === k ? Math.sqrt(Math.max(sum, TINY)) : sum / m[k * n + k]!;
    }
    let sum = x[i]!;
    for (let l = 0; l < i; l++) sum -= m[i * n + l]! * x[l]!;
    x[i] = sum / m[i * n + i]!;
  }
  for (let i = n - 1; i >= 0; i--) {
    let sum = x[i]!;
    for (let l = i + 1; l < n; l++) sum -= m[l * n + i]! * x[l]!;
    x[i] = sum / m[i * n + i]!;
  }
}
