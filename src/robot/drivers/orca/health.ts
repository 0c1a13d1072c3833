import { emptyMotorHealth, type MotorHealth } from '../../../messages/motor-health.ts';
import { hardwareErrorText, REGISTER, WATCHDOG_EXPIRED } from '../../buses/dynamixel/control-table.ts';
import { unsignedAt } from '../../buses/servo/values.ts';
import type { OrcaConfig } from './config.ts';
import type { Hand } from './hands.ts';

/** Read from one motor at a time: torque, errors, watchdog, voltage, temperature. */
export const HEALTH_FROM = REGISTER.torqueEnable.address;
export const HEALTH_BYTES = REGISTER.temperature.address + 1 - HEALTH_FROM;

const VOLT_PER_UNIT = 0.1;
const A_PER_UNIT = 1e-3;
/** Share of the permitted current that counts as pushing with all of it. */
const FULL_SHARE = 0.95;
const MS = 1e6;
const [OK, WARNING, STOPPED] = [0, 1, 2];

type Limits = Pick<
  OrcaConfig,
  'warnTemperatureC' | 'stopTemperatureC' | 'warnVoltageV' | 'stopVoltageV' | 'overloadMs' | 'maxCurrentMa'
>;

/** Condition of a hand's motors against their limits. Sans I/O. */
export class HandHealth {
  readonly motors: MotorHealth;
  readonly #hand: Hand;
  readonly #limits: Limits;
  /** Since when each motor has been pushing with its full current; NaN: it does not. */
  readonly #pushingSinceNs: Float64Array;
  readonly #fullMa: number;

  constructor(hand: Hand, limits: Limits) {
    this.#hand = hand;
    this.#limits = limits;
    this.motors = emptyMotorHealth(hand.joints.length);
    this.motors.level.fill(OK!);
    this.#pushingSinceNs = new Float64Array(hand.joints.length).fill(Number.NaN);
    this.#fullMa = FULL_SHARE * Math.min(limits.maxCurrentMa, hand.maxCurrentMa);
  }

  /** Enabling starts anew; what still holds is found again. */
  reset(): void {
    this.motors.level.fill(OK!);
    this.#pushingSinceNs.fill(Number.NaN);
  }

  /** Motor `i` has stopped, or was stopped. */
  stopped(i: number): void {
    this.motors.level[i] = STOPPED!;
  }

  /**
   * The motors' currents of a cycle, in units of the motor. Returns the motor that has pushed with its full
   * current for too long; −1: none. Hot path.
   */
  onCurrents(units: Int32Array, nowNs: number): number {
    let overloaded = -1;
    for (let i = 0; i < units.length; i++) {
      if (!this.#hand.joints[i]!.motor.hasCurrentControl) continue;
      this.motors.currentA[i] = units[i]! * A_PER_UNIT;
      if (Math.abs(units[i]!) < this.#fullMa) this.#pushingSinceNs[i] = Number.NaN;
      else if (Number.isNaN(this.#pushingSinceNs[i])) this.#pushingSinceNs[i] = nowNs;
      else if (nowNs - this.#pushingSinceNs[i]! > this.#limits.overloadMs * MS) overloaded = i;
    }
    return overloaded;
  }

  /** HEALTH_BYTES of motor `i`, which should have torque. Returns why the hand must stop; empty: it need not. */
  onMotor(i: number, data: Uint8Array): string {
    const at = ({ address, size }: { address: number; size: 1 | 2 | 4 }) =>
      unsignedAt(data, address - HEALTH_FROM, size);
    const temperatureC = at(REGISTER.temperature);
    const voltageV = at(REGISTER.inputVoltage) * VOLT_PER_UNIT;
    this.motors.temperatureC[i] = temperatureC;
    this.motors.voltageV[i] = voltageV;
    const stop = this.#stopReason(at(REGISTER.hardwareError), temperatureC, voltageV);
    const isPushing = !Number.isNaN(this.#pushingSinceNs[i]);
    // A motor that was stopped stays so until the hand is enabled again.
    const wasStopped = this.motors.level[i] === STOPPED;
    this.motors.level[i] =
      wasStopped || stop !== ''
        ? STOPPED!
        : isPushing || this.#isNear(temperatureC, voltageV)
          ? WARNING!
          : OK!;
    if (stop !== '') return stop;
    if (at(REGISTER.busWatchdog) === WATCHDOG_EXPIRED)
      return 'was stopped by its watchdog: the bus was silent for too long';
    return at(REGISTER.torqueEnable) === 0 ? 'has lost its torque: check its power supply' : '';
  }

  #stopReason(errors: number, temperatureC: number, voltageV: number): string {
    const { stopTemperatureC, stopVoltageV } = this.#limits;
    if (errors !== 0) return `reports: ${hardwareErrorText(errors)}`;
    if (temperatureC >= stopTemperatureC)
      return `is at ${temperatureC} °C (limit ${stopTemperatureC}): let it cool down`;
    if (voltageV >= stopVoltageV[0] && voltageV <= stopVoltageV[1]) return '';
    return `has a supply of ${voltageV.toFixed(1)} V (limits ${stopVoltageV.join(' … ')}): check the power supply`;
  }

  #isNear(temperatureC: number, voltageV: number): boolean {
    const { warnTemperatureC, warnVoltageV } = this.#limits;
    return temperatureC >= warnTemperatureC || voltageV < warnVoltageV[0] || voltageV > warnVoltageV[1];
  }
}
