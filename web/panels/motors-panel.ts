import type { RobotModel } from '../../src/geometry/robot-model.ts';
import { MOTOR_LEVELS, type MotorReport } from '../../src/messages/motor-health.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { element, setText } from '../dom.ts';

const number = (value: number | null | undefined, digits: number, unit: string): string =>
  value == null ? '–' : `${value.toFixed(digits).replace(/^-(?=[0.]*$)/, '')} ${unit}`;
const mostOf = (values: readonly (number | null)[]): number =>
  values.reduce<number>((best, value, i) => ((value ?? -1) > (values[best] ?? -1) ? i : best), 0);

/** Condition of the robot's motors, for robots that report it. Hidden for others. */
export class MotorsPanel {
  readonly #panel = element('motors', HTMLElement);
  readonly #summary = element('motors-summary', HTMLElement);
  readonly #trouble = element('motors-trouble', HTMLElement);
  readonly #rows = element('motors-rows', HTMLTableSectionElement);
  #names: readonly string[] = [];
  #cells: HTMLTableCellElement[][] = [];

  setModel({ joints }: RobotModel): void {
    this.#names = joints.map(({ name }) => name);
    this.#rows.replaceChildren();
    this.#cells = this.#names.map((name) => {
      const row = this.#rows.insertRow();
      const cells = Array.from({ length: 5 }, () => row.insertCell());
      setText(cells[0]!, name);
      return cells;
    });
  }

  show({ robot }: Telemetry): void {
    const motors = robot?.motors;
    this.#panel.hidden = motors === undefined;
    if (motors === undefined) return;
    const hottest = mostOf(motors.temperatureC);
    const volts = motors.voltageV.filter((value) => value !== null);
    setText(
      this.#summary,
      `${number(motors.temperatureC[hottest], 0, '°C')} at most · ${volts.length > 0 ? number(Math.min(...volts), 1, 'V') : '–'}`,
    );
    const trouble = this.#names.flatMap((name, i) => this.#troubleOf(name, i, motors));
    this.#trouble.hidden = trouble.length === 0;
    setText(this.#trouble, trouble.join(' · '));
    this.#cells.forEach((cells, i) => {
      setText(cells[1]!, number(motors.temperatureC[i], 0, '°C'));
      setText(cells[2]!, number(motors.currentA[i], 2, 'A'));
      setText(cells[3]!, number(motors.voltageV[i], 1, 'V'));
      setText(cells[4]!, MOTOR_LEVELS[motors.level[i] ?? 0] ?? '');
      cells[0]!.parentElement!.dataset['level'] = MOTOR_LEVELS[motors.level[i] ?? 0] ?? 'ok';
    });
  }

  #troubleOf(name: string, i: number, motors: MotorReport): string[] {
    const level = MOTOR_LEVELS[motors.level[i] ?? 0];
    if (level === undefined || level === 'ok') return [];
    return [
      `${name}: ${level}, ${number(motors.temperatureC[i], 0, '°C')}, ${number(motors.currentA[i], 2, 'A')}`,
    ];
  }
}
