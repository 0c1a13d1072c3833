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
import { isInStep, ping, requestOne, syncRead, syncWrite } from '../../buses/servo/operations.ts';
import type { ServoBus } from '../../buses/servo/servo-bus.ts';
import type { Register } from '../../buses/servo/servo-protocol.ts';
import type { Hand } from './hands.ts';

const TRIES = 6;
/** About a second: a busy machine must not look like a missing motor. */
const READ_TRIES = 25;
/** A motor does not reply while it restarts. */
const REBOOT_MS = 400;
const REBOOT_TRIES = 12;
const REBOOT_RETRY_MS = 100;
/** A motor takes a moment to write its EEPROM. */
const EEPROM_MS = 20;

export interface PowerOptions {
  currentMa: number;
  maxMotorSpeedRadS: number;
  busWatchdogMs: number;
}

/** Why a hand was not enabled. */
export class Refused extends Error {}

const modeOf = (hand: Hand, i: number): number =>
  hand.joints[i]!.motor.hasCurrentControl ? MODE.currentBasedPosition : MODE.extended;

const unsigned = (value: number, size: number): number =>
  size === 4 ? value >>> 0 : value & ((1 << (8 * size)) - 1);

export const watchdogUnits = (ms: number): number =>
  Math.max(1, Math.min(127, Math.floor(ms / WATCHDOG_UNIT_MS)));

/**
 * Brings a hand from any state to one where every joint is powered and holds its position. `check` is called
 * before each step and may throw. Throws `Refused` on failure; joints that have torque then keep it.
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

  /** One unsigned register of all motors, or of `ids`, in order. */
  async readAll(register: Register, ids = this.#ids): Promise<number[]> {
    const found = new Map<number, number>();
    let inStep = true;
    for (let i = 0; i < READ_TRIES && (found.size < ids.length || !inStep); i++) {
      if (inStep) {
        const missing = ids.filter((id) => !found.has(id));
        for (const [id, value] of await syncRead(this.#bus, missing, register)) found.set(id, value);
      }
      // Replies that are missing may come late.
      if (found.size < ids.length || !inStep)
        inStep = await isInStep(this.#bus, [...found.keys()].at(-1) ?? ids[i % ids.length]!);
      this.#check();
    }
    const silent = ids.filter((id) => !found.has(id));
    if (silent.length > 0) throw new Refused(`no reply from ${this.names(silent)}`);
    return ids.map((id) => found.get(id)!);
  }

  /** Sync writes are not acknowledged, so they are read back and repeated if lost. */
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
    if (wrong.length > 0) throw new Refused(`${this.names(wrong)} did not accept ${what}`);
  }

  async writeAll(register: Register, values: number | readonly number[], ids = this.#ids): Promise<void> {
    this.#check();
    if (!(await syncWrite(this.#bus, ids, register, values))) throw new Refused('the bus accepts no packets');
    this.#check();
  }

  names(ids: readonly number[]): string {
    const named = ids.map(
      (id) => `${this.#hand.joints.find(({ motorId }) => motorId === id)?.name} (motor ${id})`,
    );
    return named.join(', ');
  }

  /**
   * Errors such as overload disable a motor until it is rebooted; `onUnresponsive` gets the ids that do not reply
   * meanwhile.
   */
  async clearErrors(onUnresponsive: (ids: readonly number[]) => void = () => {}): Promise<void> {
    const flags = await this.readAll(REGISTER.hardwareError);
    const failed = this.#ids.filter((_, i) => flags[i] !== 0);
    if (failed.length === 0) return;
    onUnresponsive(failed);
    try {
      for (const id of failed) await requestOne(this.#bus, id, rebootPacket(id), 0);
      await this.#bus.pause(REBOOT_MS);
      for (const id of failed) await this.#awaitBack(id);
    } finally {
      onUnresponsive([]);
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
    throw new Refused(`${this.names([id])} did not reconnect after its restart`);
  }

  /** Operating mode and return delay need torque off, so they are written only if they differ. */
  async configure({ currentMa, maxMotorSpeedRadS }: PowerOptions): Promise<void> {
    const modes = await this.readAll(REGISTER.operatingMode);
    const delays = await this.readAll(REGISTER.returnDelay);
    const watchdogs = await this.readAll(REGISTER.busWatchdog);
    const otherMode = this.#ids.filter((_, i) => modes[i] !== modeOf(this.#hand, i));
    const otherDelay = this.#ids.filter((_, i) => delays[i] !== 0);
    // Without torque, clearing the watchdog cannot resume a move to an old goal.
    const expired = this.#ids.filter((_, i) => watchdogs[i] === WATCHDOG_EXPIRED);
    const limp = [...new Set([...otherMode, ...otherDelay, ...expired])];
    await this.set('torque off', REGISTER.torqueEnable, 0, limp);
    const wanted = otherMode.map((id) => modeOf(this.#hand, this.#ids.indexOf(id)));
    await this.set('its operating mode', REGISTER.operatingMode, wanted, otherMode);
    await this.set('its return delay', REGISTER.returnDelay, 0, otherDelay);
    await this.set('the watchdog reset', REGISTER.busWatchdog, 0);
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

  /** Sets each goal to the measured position, before and after torque is on. */
  async power(ticks: ArrayLike<number>, busWatchdogMs: number): Promise<void> {
    const goals = Array.from(ticks);
    await this.set('its current position', REGISTER.goalPosition, goals);
    await this.set('the bus watchdog', REGISTER.busWatchdog, watchdogUnits(busWatchdogMs));
    await this.set('torque', REGISTER.torqueEnable, 1);
    await this.writeAll(REGISTER.goalPosition, goals);
  }
}
