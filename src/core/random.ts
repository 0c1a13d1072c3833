/** Repeatable random numbers: the same seed and purpose give the same ones on every machine. Hot path. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** `purpose` separates streams of one seed, so that one impairment does not shift the draws of another. */
  constructor(seed: number, purpose: string) {
    this.#a = hash(`${seed}/${purpose}/a`);
    this.#b = hash(`${seed}/${purpose}/b`);
    this.#c = hash(`${seed}/${purpose}/c`);
    for (let i = 0; i < 12; i++) this.uniform();
  }

  /** In [0, 1). sfc32. */
  uniform(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  }

  chance(share: number): boolean {
    return share > 0 && this.uniform() < share;
  }

  between([low, high]: readonly [number, number]): number {
    return low + (high - low) * this.uniform();
  }

  exponential(mean: number): number {
    return -mean * Math.log(1 - this.uniform());
  }

  normal(): number {
    return normalOf(this.uniform(), this.uniform());
  }
}

/**
 * Gaussian noise as a function of time: mean 0, spread 1, continuous, uncorrelated after two steps.
 * Has no state to advance, so neither traffic nor silence changes what the link does later.
 */
export class TimeNoise {
  readonly #stepNs: number;
  readonly #seed: number;
  #index = Number.NaN;
  #left = 0;
  #right = 0;

  constructor(seed: number, purpose: string, stepNs: number) {
    this.#seed = hash(`${seed}/${purpose}`);
    this.#stepNs = stepNs;
  }

  /** Smooth. Hot path. */
  at(timeNs: number): number {
    const position = timeNs / this.#stepNs;
    this.#seek(Math.floor(position));
    const angle = (position - this.#index) * (Math.PI / 2);
    return this.#left * Math.cos(angle) + this.#right * Math.sin(angle);
  }

  /** In [0, 1), constant within a step. */
  stepAt(timeNs: number): number {
    return this.#hashed(2 * Math.floor(timeNs / this.#stepNs));
  }

  #seek(index: number): void {
    if (index === this.#index) return;
    this.#left = index === this.#index + 1 ? this.#right : this.#point(index);
    this.#right = this.#point(index + 1);
    this.#index = index;
  }

  #point(index: number): number {
    return normalOf(this.#hashed(2 * index), this.#hashed(2 * index + 1));
  }

  #hashed(index: number): number {
    return mix(mix(this.#seed ^ (index | 0)) ^ Math.floor(index / 2 ** 32)) / 2 ** 32;
  }
}

/** Box–Muller. */
const normalOf = (u: number, v: number): number =>
  Math.sqrt(-2 * Math.log(1 - u)) * Math.cos(2 * Math.PI * v);

function mix(value: number): number {
  value = Math.imul(value ^ (value >>> 16), 0x21f0aaad);
  value = Math.imul(value ^ (value >>> 15), 0x735a2d97);
  return (value ^ (value >>> 15)) >>> 0;
}

/** FNV-1a with a final mix. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return mix(value);
}
