/** How a motor is: fine, near a limit, or stopped by one. */
export const MOTOR_LEVELS = ['ok', 'warning', 'stopped'] as const;

/** Condition of the motors, one number per joint; NaN: not known. Filled in place. */
export interface MotorHealth {
  temperatureC: Float64Array;
  /** Signed. */
  currentA: Float64Array;
  voltageV: Float64Array;
  /** Index in MOTOR_LEVELS. */
  level: Float64Array;
}

export const MOTOR_FIELDS = [
  'temperatureC',
  'currentA',
  'voltageV',
  'level',
] as const satisfies readonly (keyof MotorHealth)[];

export const emptyMotorHealth = (joints: number): MotorHealth => ({
  temperatureC: new Float64Array(joints).fill(Number.NaN),
  currentA: new Float64Array(joints).fill(Number.NaN),
  voltageV: new Float64Array(joints).fill(Number.NaN),
  level: new Float64Array(joints).fill(Number.NaN),
});

/** Hot path. */
export function copyMotorHealth(from: MotorHealth, to: MotorHealth): void {
  to.temperatureC.set(from.temperatureC);
  to.currentA.set(from.currentA);
  to.voltageV.set(from.voltageV);
  to.level.set(from.level);
}

/** Whether anything is known about the motors. */
export const knowsMotors = ({ level }: MotorHealth): boolean => !Number.isNaN(level[0]);

/** As in messages: null where a number is not known. */
export interface MotorReport {
  temperatureC: (number | null)[];
  currentA: (number | null)[];
  voltageV: (number | null)[];
  level: (number | null)[];
}
