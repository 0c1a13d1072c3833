import type { RobotModel } from '../../src/geometry/robot-model.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { atMostEvery, create, element, setText } from '../dom.ts';
import { partNames } from '../panels/labels.ts';
import { onThemeChange } from '../shell/theme.ts';
import { drawSeries } from './draw.ts';
import { Series } from './series.ts';

const DRAW_MS = 100;
const WINDOW_S = 10;
/** Telemetry comes 30 times a second, at most 60. */
const CAPACITY = 60 * WINDOW_S;
const HIDDEN_KEY = 'farhand-plots-off';

interface Plot {
  name: string;
  title: string;
  unit: string;
  series: Series;
  root: HTMLElement;
  canvas: HTMLCanvasElement;
  range: HTMLElement;
}

/** Curves of the last ten seconds: joints, their velocities, external torque, one-way latency. */
export class LivePlots {
  readonly #root = element('plots-body', HTMLElement);
  readonly #joints: number;
  readonly #plots: Plot[];
  readonly #velocities: Float64Array;
  readonly #lastRad: Float64Array;
  readonly #latency = new Float64Array(2);
  #lastS = Number.NaN;
  #colours: string[] = [];
  readonly #draw = atMostEvery(DRAW_MS, () => this.#drawAll());

  constructor(model: RobotModel) {
    this.#joints = model.joints.length;
    this.#velocities = new Float64Array(this.#joints);
    this.#lastRad = new Float64Array(this.#joints).fill(Number.NaN);
    this.#plots = [
      plotOf('joints', 'Joints', 'rad', this.#joints),
      plotOf('velocities', 'Velocities', 'rad/s', this.#joints),
      plotOf('effort', 'External torque', 'N·m', this.#joints),
      plotOf('latency', 'One-way latency', 'ms', 2),
    ];
    this.#root.replaceChildren(chooser(this.#plots), ...this.#plots.map(({ root }) => root), legend(model));
    onThemeChange(() => this.#readColours());
    this.#readColours();
  }

  show({ robot, closed }: Telemetry, nowMs: number): void {
    const timeS = nowMs / 1000;
    // Messages arrive unevenly; the robot read its joints when it says.
    const readS = robot?.readNs == null ? timeS : robot.readNs / 1e9;
    const [joints, velocities, effort, latency] = this.#plots as [Plot, Plot, Plot, Plot];
    if (robot) {
      this.#differ(robot.measuredRad, readS);
      joints.series.add(timeS, robot.measuredRad);
      velocities.series.add(timeS, this.#velocities);
      effort.series.add(timeS, robot.externalNm ?? NOTHING);
    }
    if (closed.length > 0) {
      this.#latency.fill(Number.NaN);
      for (let i = 0; i < closed.length; i++) {
        const { oneWayMs } = closed[i]!;
        if (oneWayMs === null) continue;
        this.#latency[0] = oneWayMs;
        if (!(this.#latency[1]! > oneWayMs)) this.#latency[1] = oneWayMs;
      }
      latency.series.add(timeS, this.#latency);
    }
    this.#draw(nowMs);
  }

  #differ(measuredRad: readonly number[], timeS: number): void {
    const dtS = timeS - this.#lastS;
    if (dtS === 0) return;
    this.#lastS = timeS;
    for (let i = 0; i < this.#joints; i++) {
      const rad = measuredRad[i] ?? Number.NaN;
      this.#velocities[i] = dtS > 1e-3 && dtS < 1 ? (rad - this.#lastRad[i]!) / dtS : Number.NaN;
      this.#lastRad[i] = rad;
    }
  }

  #drawAll(): void {
    for (const { root, canvas, series, range, unit } of this.#plots) {
      if (root.hidden) continue;
      const [low, high] = drawSeries(canvas, series, this.#colours, WINDOW_S);
      setText(range, Number.isFinite(low) ? `${digits(low)} … ${digits(high)} ${unit}` : 'not reported');
    }
  }

  #readColours(): void {
    const style = getComputedStyle(document.documentElement);
    const read = (name: string) => style.getPropertyValue(name).trim();
    this.#colours = Array.from({ length: 6 }, (_, i) => read(`--seg-${i}`));
    this.#drawAll();
  }
}

const NOTHING: number[] = [];
const digits = (value: number): string => value.toFixed(Math.abs(value) < 10 ? 2 : 0);

function plotOf(name: string, title: string, unit: string, curves: number): Plot {
  const root = create('figure', 'live-plot');
  root.dataset['testid'] = `live-${name}`;
  const canvas = create('canvas') as HTMLCanvasElement;
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', `${title}, last ten seconds`);
  const caption = create('figcaption');
  const range = create('span', 'muted');
  caption.append(create('b', '', title), range);
  root.append(caption, canvas);
  return { name, title, unit, series: new Series(curves, CAPACITY), root, canvas, range };
}

/** Which curves are drawn; remembered. */
function chooser(plots: readonly Plot[]): HTMLElement {
  const off = new Set(remembered());
  const row = create('div', 'plot-choice');
  for (const { name, title, root } of plots) {
    const label = create('label');
    const box = create('input') as HTMLInputElement;
    box.type = 'checkbox';
    box.checked = !off.has(name);
    root.hidden = off.has(name);
    box.addEventListener('change', () => {
      root.hidden = !box.checked;
      if (box.checked) off.delete(name);
      else off.add(name);
      remember([...off]);
    });
    label.append(box, ` ${title}`);
    row.append(label);
  }
  return row;
}

function legend({ joints }: RobotModel): HTMLElement {
  const list = create('ul', 'plot-legend');
  for (const [i, { name }] of joints.entries()) {
    const item = create('li');
    const swatch = create('i');
    swatch.style.background = `var(--seg-${i % 6})`;
    item.append(swatch, partNames(name));
    list.append(item);
  }
  return list;
}

function remembered(): string[] {
  try {
    return (localStorage.getItem(HIDDEN_KEY) ?? '').split(' ');
  } catch {
    return [];
  }
}

function remember(names: readonly string[]): void {
  try {
    localStorage.setItem(HIDDEN_KEY, names.join(' '));
  } catch {
    // Storage is blocked: kept until the page is reloaded.
  }
}
