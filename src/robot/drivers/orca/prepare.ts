import {
  EEPROM_BYTES,
  hardwareErrorText,
  MODE,
  RAD_S_PER_VELOCITY_UNIT,
  REGISTER,
  WATCHDOG_EXPIRED,
  WATCHDOG_UNIT_MS,
} from '../../buses/dynamixel/control-table.ts';
import { rebootPacket } from '../../buses/dynamixel/dynamixel-2.ts';
import { askOne, ping, syncRead, syncWrite } from '../../buses/servo/operations.ts';
import type { ServoBus } from '../../buses/servo/servo-bus.ts';
import type { Register } from '../../buses/servo/servo-protocol.ts';
import type { Hand } from './hands.ts';

const TRIES = 6;
/** About a second: a busy machine is not a missing motor, and whoever arms has the time. */
const READ_TRIES = 25;
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

const unsigned = (value: number, size: number): number =>
  size === 4 ? value >>> 0 : value & ((1 << (8 * size)) - 1);

export const watchdogUnits = (ms: number): number =>
  Math.max(1, Math.min(127, Math.floor(ms / WATCHDOG_UNIT_MS)));

/**
 * Brings a hand from whatever state to one where every joint is powered and holds the place it is in. `check` is asked
 * before each step and may throw. Throws `Refused` where it cannot be done; a joint that has torque then keeps it.
 */
export class HandPreparation {
  readonly #bus: ServoBus;
  readonly #hand: Hand;
  readonly #ids: readonly number[];
  readonly #check: () => void;

  constructor(bus: ServoBus, hand: Hand, check: () => void) {
    this.#bus = bus;
    this.#hand = hand;
    this.#ids = hand.joints.map(({ motorId }) => motorId);
    this.#check = check;
  }

  /** One register of all motors, or of these, in their order; not negative. */
  async readAll(register: Register, ids = this.#ids): Promise<number[]> {
    const found = new Map<number, number>();
    for (let i = 0; i < READ_TRIES && found.size < ids.length; i++) {
      const missing = ids.filter((id) => !found.has(id));
      for (const [id, value] of await syncRead(this.#bus, missing, register)) found.set(id, value);
      this.#check();
    }
    const silent = ids.filter((id) => !found.has(id));
    if (silent.length > 0) throw new Refused(`no answer from ${this.names(silent)}`);
    return ids.map((id) => found.get(id)!);
  }

  /** Nobody acknowledges a sync write, so it is read back and repeated where it was lost. */
  async set(
    what: string,
    register: Register,
    values: number | readonly number[],
    ids: readonly number[] = this.#ids,
  ): Promise<void> {
    if (ids.length === 0) return;
    const wanted = ids.map((_, i) =>
      unsigned(typeof values === 'number' ? values : values[i]!, register.size),
    );
    let wrong: readonly number[] = ids;
    for (let i = 0; i < TRIES && wrong.length > 0; i++) {
      await this.writeAll(register, wanted, ids);
      if (register.address < EEPROM_BYTES) await this.#bus.pause(EEPROM_MS);
      const taken = await this.readAll(register, ids);
      wrong = ids.filter((_, j) => taken[j] !== wanted[j]);
    }
    if (wrong.length > 0) throw new Refused(`${this.names(wrong)} did not take ${what}`);
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
      for (const id of failed) await askOne(this.#bus, id, rebootPacket(id), 0);
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
    await this.set('torque off', REGISTER.torqueEnable, 0, limp);
    const wanted = otherMode.map((id) => modeOf(this.#hand, this.#ids.indexOf(id)));
    await this.set('its operating mode', REGISTER.operatingMode, wanted, otherMode);
    await this.set('its delay of answer', REGISTER.returnDelay, 0, otherDelay);
    await this.set('the end of its watchdog', REGISTER.busWatchdog, 0);
    const fingers = this.#ids.filter((_, i) => this.#hand.joints[i]!.motor.hasCurrentControl);
    await this.set('its current', REGISTER.goalCurrent, currentMa, fingers);
    await this.set('its acceleration', REGISTER.profileAcceleration, 0);
    const speed = Math.max(1, Math.round(maxMotorSpeedRadS / RAD_S_PER_VELOCITY_UNIT));
    await this.set('its speed', REGISTER.profileVelocity, speed);
  }

  /** Signed ticks of all motors. */
  async positions(): Promise<Int32Array> {
    return Int32Array.from(await this.readAll(REGISTER.presentPosition), (value) => value | 0);
  }

  /** Each motor is told to be where it is, before it has torque and after. */
  async power(ticks: ArrayLike<number>, busWatchdogMs: number): Promise<void> {
    const goals = Array.from(ticks);
    await this.set('the place where it is', REGISTER.goalPosition, goals);
    await this.set('the bus watchdog', REGISTER.busWatchdog, watchdogUnits(busWatchdogMs));
    await this.set('torque', REGISTER.torqueEnable, 1);
    await this.writeAll(REGISTER.goalPosition, goals);
  }
}
