/** Joints that run to their targets at a limited speed. */
export class SimulatedHand {
  readonly positionsRad: Float64Array;
  readonly velocitiesRadS: Float64Array;
  readonly #targetsRad: Float64Array;
  readonly #speedRadS: number;
  #commanded = false;

  constructor(startRad: readonly number[], speedRadS: number) {
    this.positionsRad = Float64Array.from(startRad);
    this.velocitiesRadS = new Float64Array(startRad.length);
    this.#targetsRad = this.positionsRad.slice();
    this.#speedRadS = speedRadS;
  }

  /** False for a command of the wrong length or with non-finite numbers. */
  command(targetsRad: ArrayLike<number>): boolean {
    if (targetsRad.length !== this.#targetsRad.length) return false;
    for (let i = 0; i < targetsRad.length; i++) if (!Number.isFinite(targetsRad[i]!)) return false;
    this.#targetsRad.set(targetsRad);
    this.#commanded = true;
    return true;
  }

  get wasCommanded(): boolean {
    return this.#commanded;
  }

  advance(seconds: number): void {
    const most = this.#speedRadS * seconds;
    for (let i = 0; i < this.positionsRad.length; i++) {
      const gap = this.#targetsRad[i]! - this.positionsRad[i]!;
      const step = Math.max(-most, Math.min(most, gap));
      this.positionsRad[i] = this.positionsRad[i]! + step;
      this.velocitiesRadS[i] = seconds > 0 ? step / seconds : 0;
    }
  }
}
