import {
  EEPROM_BYTES,
  HARDWARE_ERROR,
  MAX_TICKS,
  MODE,
  type MotorType,
  RAD_PER_TICK,
  RAD_S_PER_VELOCITY_UNIT,
  REGISTER,
  STATUS_ERROR,
  TICKS_PER_TURN,
  WATCHDOG_EXPIRED,
  WATCHDOG_UNIT_MS,
} from '../../src/robot/buses/dynamixel/control-table.ts';
import type { Register } from '../../src/robot/buses/servo/servo-protocol.ts';
import { putValue, signedAt, unsignedAt } from '../../src/robot/buses/servo/values.ts';

const TABLE_BYTES = 256;
const TOP_SPEED_RAD_S = 6.8;
/** Share of the distance to the goal covered per second. */
const STIFFNESS_PER_S = 40;
const BOOT_MS = 300;
/** Without current control, a blocked motor pushes harder the farther away its goal is. */
const FULL_LOAD_TICKS = 400;
const OVERLOAD_PERMILLE = 800;
const OVERLOAD_MS = 1500;
const GOALS = [100, 102, 104, 116];
const READ_ONLY: readonly (readonly [number, number])[] = [
  [0, 7],
  [70, 71],
  [120, 147],
];

export interface MotorOptions {
  id: number;
  type: MotorType;
  firmware: number;
  /** Mechanical angle and stops in ticks; may exceed one turn. */
  ticks: number;
  lowTicks: number;
  highTicks: number;
}

/** What the encoder and the drive measure where something else moves the joint. */
export interface Measured {
  ticks: number;
  velocityTicksS: number;
  /** Units of the present current; without current control 0.1 % of the stall torque. */
  loadUnits: number;
}

/** One motor: control table, torque, a position loop without inertia, stops, watchdog, shutdown. */
export class SimMotor {
  readonly id: number;
  readonly type: MotorType;
  readonly firmware: number;
  readonly lowTicks: number;
  readonly highTicks: number;
  /** Something holds the joint where it is. */
  blocked = false;
  readonly table = new Uint8Array(TABLE_BYTES);
  readonly registered: { address: number; data: Uint8Array }[] = [];
  /** Not on the bus. */
  unplugged = false;
  measured: Measured | null = null;
  /** Where the motor is, or where it wants to be if something else moves the joint. */
  #ticks: number;
  /** Register value − mechanical angle: whole turns, lost without power. */
  #turnTicks = 0;
  #velocityTicksS = 0;
  #bootUntilMs = 0;
  #trafficMs = 0;
  #pushedMs = 0;

  constructor({ id, type, firmware, ticks, lowTicks, highTicks }: MotorOptions) {
    this.id = id;
    this.type = type;
    this.firmware = firmware;
    this.#ticks = ticks;
    this.lowTicks = lowTicks;
    this.highTicks = highTicks;
    this.#set(REGISTER.modelNumber, type.modelNumber);
    this.#set(REGISTER.firmware, firmware);
    this.#set(REGISTER.id, id);
    this.#set(REGISTER.returnDelay, 250);
    this.#set(REGISTER.operatingMode, MODE.position);
    if (type.hasCurrentControl) this.#set(REGISTER.currentLimit, 910);
    this.#set(REGISTER.shutdown, 52);
    this.#start();
  }

  get mechanicalTicks(): number {
    return this.measured?.ticks ?? this.#ticks;
  }

  get wantedTicks(): number {
    return this.#ticks;
  }

  /** The most that it may push now, in units of the present current. */
  get limitUnits(): number {
    if (!this.hasTorque) return 0;
    return this.type.hasCurrentControl ? this.get(REGISTER.goalCurrent) : 1000;
  }

  get hasTorque(): boolean {
    return this.get(REGISTER.torqueEnable) === 1;
  }

  get hardwareError(): number {
    return this.get(REGISTER.hardwareError);
  }

  get(register: Register): number {
    return unsignedAt(this.table, register.address, register.size);
  }

  isUnresponsive(nowMs: number): boolean {
    return this.unplugged || nowMs < this.#bootUntilMs;
  }

  /** Any instruction on the bus feeds the watchdog, also for other motors. */
  receive(nowMs: number): void {
    this.#trafficMs = nowMs;
  }

  reboot(nowMs: number): void {
    this.#bootUntilMs = nowMs + BOOT_MS;
    this.#start();
  }

  /** Like a shutdown: no torque until it is rebooted. */
  fail(flags: number): void {
    this.#set(REGISTER.hardwareError, this.hardwareError | flags);
    this.#set(REGISTER.torqueEnable, 0);
    this.#velocityTicksS = 0;
  }

  heat(temperatureC: number): void {
    this.#set(REGISTER.temperature, Math.round(temperatureC));
  }

  supply(voltageV: number): void {
    this.#set(REGISTER.inputVoltage, Math.round(voltageV * 10));
  }

  /** Torque in current mode; 0 in any other, without torque, and after the watchdog expired. */
  get drivenNm(): number {
    const isOn = this.hasTorque && this.get(REGISTER.operatingMode) === MODE.current;
    if (!isOn || this.get(REGISTER.busWatchdog) === WATCHDOG_EXPIRED) return 0;
    return signedAt(this.table, REGISTER.goalCurrent.address, 2) * this.type.nmPerUnit;
  }

  get isCurrentControlled(): boolean {
    return this.hasTorque && this.get(REGISTER.operatingMode) === MODE.current;
  }

  /** Something else moves the shaft, with or without torque. */
  carry(ticks: number): void {
    this.#ticks = Math.max(this.lowTicks, Math.min(this.highTicks, ticks));
    this.#present(0);
    this.#set(REGISTER.presentCurrent, Math.round(this.drivenNm / this.type.nmPerUnit));
  }

  /** A person turns it; works only without torque. */
  turnTo(ticks: number): void {
    if (this.hasTorque) return;
    this.#ticks = Math.max(this.lowTicks, Math.min(this.highTicks, ticks));
    this.#present(0);
  }

  clearTurns(): boolean {
    if (this.hasTorque) return false;
    this.#turnTicks = -Math.floor(this.mechanicalTicks / TICKS_PER_TURN) * TICKS_PER_TURN;
    return true;
  }

  /** Error number; 0 on success. */
  write(address: number, data: Uint8Array): number {
    const end = address + data.length;
    if (data.length === 0 || end > TABLE_BYTES) return STATUS_ERROR.length;
    if (READ_ONLY.some(([from, to]) => address < to && end > from)) return STATUS_ERROR.access;
    if (address < EEPROM_BYTES && this.hasTorque) return STATUS_ERROR.access;
    const error = this.#writeError(address, data);
    if (error !== 0) return error;
    const hadTorque = this.hasTorque;
    this.table.set(data, address);
    if (!hadTorque && this.hasTorque) this.#goalHere();
    if (address <= REGISTER.operatingMode.address && end > REGISTER.operatingMode.address) this.#goalHere();
    return 0;
  }

  #writeError(address: number, data: Uint8Array): number {
    const touches = (register: Register) =>
      address <= register.address && address + data.length >= register.address + register.size;
    const value = (register: Register) => signedAt(data, register.address - address, register.size);
    const goal = GOALS.some((at) => address <= at && address + data.length > at);
    if (goal && this.get(REGISTER.busWatchdog) === WATCHDOG_EXPIRED) return STATUS_ERROR.range;
    if (touches(REGISTER.torqueEnable)) {
      const wanted = data[REGISTER.torqueEnable.address - address]!;
      if (wanted > 1) return STATUS_ERROR.range;
      if (wanted === 1 && this.hardwareError !== 0) return STATUS_ERROR.access;
    }
    if (touches(REGISTER.busWatchdog) && value(REGISTER.busWatchdog) < 0) return STATUS_ERROR.range;
    if (touches(REGISTER.operatingMode) && !this.#modes().includes(value(REGISTER.operatingMode)))
      return STATUS_ERROR.range;
    if (touches(REGISTER.goalPosition) && Math.abs(value(REGISTER.goalPosition)) > MAX_TICKS)
      return STATUS_ERROR.limit;
    const { goalCurrent, currentLimit } = REGISTER;
    if (touches(goalCurrent)) {
      if (!this.type.hasCurrentControl) return STATUS_ERROR.access;
      if (Math.abs(value(goalCurrent)) > this.get(currentLimit)) return STATUS_ERROR.limit;
    }
    return 0;
  }

  #modes(): number[] {
    return this.type.hasCurrentControl ? [0, 1, 3, 4, 5, 16] : [1, 3, 4, 16];
  }

  step(seconds: number, nowMs: number): void {
    this.watchdog(nowMs);
    const mode = this.get(REGISTER.operatingMode);
    const followed = mode === MODE.position || mode === MODE.extended || mode === MODE.currentBasedPosition;
    const before = this.#ticks;
    let loadPermille = 0;
    if (this.hasTorque && followed) {
      const gap = signedAt(this.table, REGISTER.goalPosition.address, 4) - this.#turnTicks - this.#ticks;
      const top = this.#topTicksS() * seconds;
      const desired =
        this.#ticks + Math.max(-top, Math.min(top, gap * Math.min(1, STIFFNESS_PER_S * seconds)));
      this.#ticks = this.blocked ? this.#ticks : Math.max(this.lowTicks, Math.min(this.highTicks, desired));
      const blocked = this.#ticks !== desired;
      if (blocked) loadPermille = Math.min(1000, (Math.abs(gap) * 1000) / FULL_LOAD_TICKS) * Math.sign(gap);
    } else if (this.measured !== null) this.#ticks = this.measured.ticks;
    this.#velocityTicksS = this.measured?.velocityTicksS ?? (this.#ticks - before) / seconds;
    if (this.measured !== null && loadPermille === 0 && this.limitUnits > 0)
      loadPermille = Math.max(-1000, Math.min(1000, (1000 * this.measured.loadUnits) / this.limitUnits));
    this.#present(loadPermille);
    this.#overload(loadPermille, nowMs);
  }

  #topTicksS(): number {
    const profile = this.get(REGISTER.profileVelocity) * RAD_S_PER_VELOCITY_UNIT;
    return (profile === 0 ? TOP_SPEED_RAD_S : Math.min(profile, TOP_SPEED_RAD_S)) / RAD_PER_TICK;
  }

  watchdog(nowMs: number): void {
    const units = this.get(REGISTER.busWatchdog);
    if (units === 0 || units === WATCHDOG_EXPIRED || !this.hasTorque) return;
    if (nowMs - this.#trafficMs <= units * WATCHDOG_UNIT_MS) return;
    this.#set(REGISTER.busWatchdog, WATCHDOG_EXPIRED);
    this.#goalHere();
  }

  #present(loadPermille: number): void {
    const limited = this.type.hasCurrentControl
      ? (loadPermille / 1000) * this.get(REGISTER.goalCurrent)
      : loadPermille;
    this.#set(REGISTER.presentCurrent, Math.round(limited));
    this.#set(
      REGISTER.presentVelocity,
      Math.round((this.#velocityTicksS * RAD_PER_TICK) / RAD_S_PER_VELOCITY_UNIT),
    );
    this.#set(REGISTER.presentPosition, this.#registerTicks());
  }

  /** With a current limit a motor may push forever; without one, not for long. */
  #overload(loadPermille: number, nowMs: number): void {
    if (this.type.hasCurrentControl || Math.abs(loadPermille) < OVERLOAD_PERMILLE) this.#pushedMs = nowMs;
    else if (nowMs - this.#pushedMs > OVERLOAD_MS) this.fail(HARDWARE_ERROR.overload);
  }

  #registerTicks(): number {
    return Math.round(this.mechanicalTicks + this.#turnTicks);
  }

  #goalHere(): void {
    this.#set(REGISTER.goalPosition, this.#registerTicks());
  }

  #start(): void {
    this.table.fill(0, EEPROM_BYTES);
    this.#turnTicks = -Math.floor(this.mechanicalTicks / TICKS_PER_TURN) * TICKS_PER_TURN;
    this.#set(REGISTER.statusReturnLevel, 2);
    this.#set(REGISTER.goalCurrent, this.get(REGISTER.currentLimit));
    this.#set(REGISTER.inputVoltage, 120);
    this.#set(REGISTER.temperature, 32);
    this.#velocityTicksS = 0;
    this.#present(0);
    this.#goalHere();
  }

  #set(register: Register, value: number): void {
    putValue(this.table, register.address, value, register.size);
  }
}
