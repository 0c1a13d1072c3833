import type { DatasetInfo } from './layout.ts';
import type { Problems } from './problems.ts';
import { interpolated } from './stats.ts';
import { isList } from './values.ts';

/** Commanded and measured joints; every rule of this file is about them. */
const MOVING = ['action', 'observation.state'];
/** A measured joint may overshoot, and a stop may be a little outside. */
const RANGE_SLACK_RAD = 0.1;
/** A leap is faster than this many times the joint's limit, and larger than a correction when engaging. */
const FAST = 2;
const SMALL_RAD = 0.3;
/** Without limits: a value that leaves the usual span by this factor and returns at once. */
const FAR = 10;
/** No robot has such a joint, in any unit. */
const ABSURD = 1e5;
const SAMPLE = 20_000;

interface Series {
  key: string;
  values: number[][];
  places: { file: string; row: number; episode: number; timeS: number }[];
}

/** Finds commanded and measured values that the robot cannot have had. */
export class MotionCheck {
  readonly #info: DatasetInfo;
  readonly #problems: Problems;
  readonly #series: Series[];

  constructor(info: DatasetInfo, problems: Problems) {
    this.#info = info;
    this.#problems = problems;
    this.#series = MOVING.filter((key) => info.features[key]?.shape.length === 1).map((key) => ({
      key,
      values: [],
      places: [],
    }));
  }

  row(file: string, row: number, episode: number, values: Record<string, unknown>): void {
    const timeS = Number(values['recording.row_time'] ?? values['timestamp']);
    for (const { key, values: rows, places } of this.#series) {
      const value = values[key];
      if (!isList(value) || value.length !== this.#info.features[key]!.shape[0]) continue;
      rows.push(Array.from(value, Number));
      places.push({ file, row, episode, timeS });
    }
  }

  finish(): void {
    const limits = this.#info.farhand?.joint_limits;
    for (const series of this.#series) {
      const width = this.#info.features[series.key]!.shape[0]!;
      for (let i = 0; i < width; i++) {
        const min = limits?.minRad[i];
        const max = limits?.maxRad[i];
        if (min !== undefined && max !== undefined) {
          this.#range(series, i, min, max);
          this.#leaps(series, i, limits!.maxVelocityRadS[i]!);
        } else this.#spikes(series, i);
      }
    }
  }

  #range({ key, values, places }: Series, i: number, min: number, max: number): void {
    values.forEach((value, at) => {
      const { file, row } = places[at]!;
      if (value[i]! < min - RANGE_SLACK_RAD || value[i]! > max + RANGE_SLACK_RAD)
        this.#problems.add(
          'limits',
          file,
          row,
          `${key}[${i}] is ${value[i]} rad, but the joint moves from ${min} to ${max}`,
        );
    });
  }

  #leaps({ key, values, places }: Series, i: number, maxRadS: number): void {
    for (let at = 1; at < values.length; at++) {
      const [before, here] = [places[at - 1]!, places[at]!];
      if (before.episode !== here.episode) continue;
      const step = Math.abs(values[at]![i]! - values[at - 1]![i]!);
      const seconds = Math.max(1 / this.#info.fps, here.timeS - before.timeS);
      if (step > FAST * maxRadS * seconds + SMALL_RAD)
        this.#problems.add(
          'jump',
          here.file,
          here.row,
          `${key}[${i}] leaps by ${step.toFixed(3)} rad in ${seconds.toFixed(3)} s; the joint moves at most ${maxRadS} rad/s`,
        );
    }
  }

  /** Without the robot's limits only values that no motion explains are found. */
  #spikes({ key, values, places }: Series, i: number): void {
    const every = Math.max(1, Math.floor(values.length / SAMPLE));
    const sample = values.filter((_, at) => at % every === 0);
    const sorted = Float64Array.from(sample, (value) => value[i]!).sort();
    const span = interpolated(sorted, 0.95) - interpolated(sorted, 0.05);
    const leaves = (from: number, to: number): boolean =>
      span > 0 &&
      places[from]?.episode === places[to]?.episode &&
      values[from] !== undefined &&
      Math.abs(values[to]![i]! - values[from]![i]!) > FAR * span;
    values.forEach((value, at) => {
      const { file, row } = places[at]!;
      const isSpike = leaves(at - 1, at) && (leaves(at + 1, at) || leaves(at + 2, at));
      if (isSpike || Math.abs(value[i]!) > ABSURD)
        this.#problems.add(
          'jump',
          file,
          row,
          `${key}[${i}] is ${value[i]}; 90 % of its values lie within ${span.toPrecision(3)}`,
        );
    });
  }
}
