import type { DynamixelBus } from '../buses/dynamixel/bus.ts';
import {
  hardwareErrorText,
  MODE,
  RAD_S_PER_VELOCITY_UNIT,
  REGISTER,
  type Register,
  WATCHDOG_EXPIRED,
  WATCHDOG_UNIT_MS,
} from '../buses/dynamixel/control-table.ts';
import { ping, reboot, syncRead, syncWrite } from '../buses/dynamixel/operations.ts';
import type { Hand } from './hands.ts';

const TRIES = 4;
/** A motor answers nothing while it starts. */
const REBOOT_MS = 400;
const REBOOT_TRIES = 12;
const REBOOT_RETRY_MS = 100;
/** Writing what is kept without power takes a motor a moment. */
const EEPROM_MS = 20;

export interface PowerOptions {
  currentMa: number;
  maxMotorSpeedRadS: number;
  busWatchdogMs: number;
}

/** Why a hand was not powered. */
export class Refused extends Error {}

const modeOf = (hand: Hand, i: number): number =>
  hand.joints[i]!.motor.hasCurrentControl ? MODE.currentBasedPosition : MODE.extended;

export const watchdogUnits = (ms: number): number =>
  Math.max(1, Math.min(127, Math.floor(ms / WATCHDOG_UNIT_MS)));

/**
 * Brings a hand from whatever state to one where every joint is powered and holds the place it is in. `check` is asked
 * before each step and may throw. Throws `Refused` where it cannot be done; a joint that has torque then keeps it.
 */
export class HandPreparation {
  readonly #bus: DynamixelBus;
  readonly #hand: Hand;
  readonly #ids: readonly number[];
  readonly #check: () => void;

  constructor(bus: DynamixelBus, hand: Hand, check: () => void) {
    this.#bus = bus;
    this.#hand = hand;
    this.#ids = hand.joints.map(({ motorId }) => motorId);
    this.#check = check;
  }

  /** One register of all motors, in the order of the joints. */
  async readAll(register: Register): Promise<number[]> {
    const found = new Map<number, number>();
    for (let i = 0; i < TRIES && found.size < this.#ids.length; i++) {
      const missing = this.#ids.filter((id) => !found.has(id));
      for (const [id, value] of await syncRead(this.#bus, missing, register)) found.set(id, value);
      this.#check();
    }
    const silent = this.#ids.filter((id) => !found.has(id));
    if (silent.length > 0) throw new Refused(`no answer from ${this.names(silent)}`);
    return this.#ids.map((id) => found.get(id)!);
  }

  async writeAll(register: Register, values: number | readonly number[], ids = this.#ids): Promise<void> {
    this.#check();
    if (!(await syncWrite(this.#bus, ids, register, values))) throw new Refused('the bus takes no packets');
    this.#check();
  }

  names(ids: readonly number[]): string {
    const named = ids.map(
      (id) => `${this.#hand.joints.find(({ motorId }) => motorId === id)?.name} (motor ${id})`,
    );
    return named.join(', ');
  }

  /** Overload and the like switch a motor off until it is started anew; `onAway` is told who does not answer meanwhile. */
  async clearErrors(onAway: (ids: readonly number[]) => void = () => {}): Promise<void> {
    const flags = await this.readAll(REGISTER.hardwareError);
    const failed = this.#ids.filter((_, i) => flags[i] !== 0);
    if (failed.length === 0) return;
    onAway(failed);
    try {
      for (const id of failed) await reboot(this.#bus, id);
      await this.#bus.pause(REBOOT_MS);
      for (const id of failed) await this.#awaitBack(id);
    } finally {
      onAway([]);
    }
    const still = await this.readAll(REGISTER.hardwareError);
    const at = still.findIndex((left) => left !== 0);
    if (at >= 0) throw new Refused(`${this.names([this.#ids[at]!])}: ${hardwareErrorText(still[at]!)}`);
  }

  async #awaitBack(id: number): Promise<void> {
    for (let i = 0; i < REBOOT_TRIES; i++) {
      this.#check();
      if ((await ping(this.#bus, id)) !== null) return;
      await this.#bus.pause(REBOOT_RETRY_MS);
    }
    throw new Refused(`${this.names([id])} did not come back from its restart`);
  }

  /** Modes and delays of answer need torque off, so they are written only where they differ. */
  async configure({ currentMa, maxMotorSpeedRadS }: PowerOptions): Promise<void> {
    const modes = await this.readAll(REGISTER.operatingMode);
    const delays = await this.readAll(REGISTER.returnDelay);
    const watchdogs = await this.readAll(REGISTER.busWatchdog);
    const otherMode = this.#ids.filter((_, i) => modes[i] !== modeOf(this.#hand, i));
    const otherDelay = this.#ids.filter((_, i) => delays[i] !== 0);
    // Without torque they cannot go on to where they once were told when their watchdog is cleared.
    const expired = this.#ids.filter((_, i) => watchdogs[i] === WATCHDOG_EXPIRED);
    const limp = [...new Set([...otherMode, ...otherDelay, ...expired])];
    await this.writeAll(REGISTER.torqueEnable, 0, limp);
    const wanted = otherMode.map((id) => modeOf(this.#hand, this.#ids.indexOf(id)));
    await this.writeAll(REGISTER.operatingMode, wanted, otherMode);
    await this.writeAll(REGISTER.returnDelay, 0, otherDelay);
    if (limp.length > 0) await this.#bus.pause(EEPROM_MS);
    await this.writeAll(REGISTER.busWatchdog, 0);
    const fingers = this.#ids.filter((_, i) => this.#hand.joints[i]!.motor.hasCurrentControl);
    await this.writeAll(REGISTER.goalCurrent, currentMa, fingers);
    await this.writeAll(REGISTER.profileAcceleration, 0);
    await this.writeAll(
      REGISTER.profileVelocity,
      Math.max(1, Math.round(maxMotorSpeedRadS / RAD_S_PER_VELOCITY_UNIT)),
    );
    const now = await this.readAll(REGISTER.operatingMode);
    const wrong = this.#ids.filter((_, i) => now[i] !== modeOf(this.#hand, i));
    if (wrong.length > 0) throw new Refused(`${this.names(wrong)} did not take the operating mode`);
  }

  /** Signed ticks of all motors. */
  async positions(): Promise<Int32Array> {
    return Int32Array.from(await this.readAll(REGISTER.presentPosition), (value) => value | 0);
  }

  /** Each motor is told to be where it is, before it has torque and after. */
  async power(ticks: ArrayLike<number>, busWatchdogMs: number): Promise<void> {
    const goals = Array.from(ticks);
    const units = watchdogUnits(busWatchdogMs);
    await this.writeAll(REGISTER.goalPosition, goals);
    await this.writeAll(REGISTER.busWatchdog, units);
    await this.writeAll(REGISTER.torqueEnable, 1);
    await this.writeAll(REGISTER.goalPosition, goals);
    const torque = await this.readAll(REGISTER.torqueEnable);
    const watchdog = await this.readAll(REGISTER.busWatchdog);
    const limp = this.#ids.filter((_, i) => torque[i] !== 1);
    if (limp.length > 0) throw new Refused(`${this.names(limp)} did not take torque`);
    const unguarded = this.#ids.filter((_, i) => watchdog[i] !== units);
    if (unguarded.length > 0) throw new Refused(`${this.names(unguarded)} did not take the bus watchdog`);
  }
}
