const TABLE_BYTES = 128;
const MIDDLE = 2048;
/** The position loop uses all the torque that it is allowed from this error on. */
const FULL_PULL_STEPS = 60;
const STALL_STEPS_S = 3000;
const MAX_STEPS_S2 = 60_000;
const AT = {
  min: 9,
  max: 11,
  offset: 31,
  torque: 40,
  goal: 42,
  limit: 48,
  lock: 55,
  position: 56,
  speed: 58,
  load: 60,
  voltage: 62,
  temperature: 63,
} as const;
const EEPROM_END = 40;
const READ_ONLY_FROM = 56;

/** One STS3215: its memory table, and a shaft that runs to its goal. No gravity. */
export class SimServo {
  readonly id: number;
  readonly table = new Uint8Array(TABLE_BYTES);
  /** In steps, after the homing offset. */
  position: number;
  /** Where it meets something; infinite: nowhere. */
  blockedBelow = Number.NEGATIVE_INFINITY;
  #speed = 0;

  constructor(id: number, range: readonly [number, number], position: number) {
    this.id = id;
    this.position = position;
    this.table.set([3, 10], 0);
    this.#put(3, 777);
    this.table[5] = id;
    this.#put(AT.min, range[0]);
    this.#put(AT.max, range[1]);
    this.#put(16, 1000);
    this.table.set([32, 32, 0], 21);
    this.#put(48, 1000);
    this.table[AT.lock] = 1;
    this.table[AT.voltage] = 74;
    this.table[AT.temperature] = 30;
    this.#put(AT.goal, Math.round(position));
    this.step(0);
  }

  get isPowered(): boolean {
    return this.table[AT.torque] === 1;
  }

  write(address: number, bytes: Uint8Array): void {
    const isStored = address < EEPROM_END;
    if (address >= READ_ONLY_FROM || address + bytes.length > TABLE_BYTES) return;
    if (isStored && this.table[AT.lock] === 1) return;
    const before = this.#signed(AT.offset, 11);
    const wasOff = !this.isPowered;
    this.table.set(bytes, address);
    // Position = encoder − offset.
    this.position += before - this.#signed(AT.offset, 11);
    // A shaft that gets torque without a new goal stays where it is.
    if (wasOff && this.isPowered && Math.abs(this.#word(AT.goal) - this.position) > MIDDLE)
      this.#put(AT.goal, Math.round(this.position));
    this.step(0);
  }

  step(dtS: number): void {
    if (this.isPowered && dtS > 0) this.#servo(dtS);
    else if (dtS > 0) this.#speed = 0;
    const blocked = this.position <= this.blockedBelow;
    this.#put(AT.position, this.#signMagnitude(Math.round(this.position), 15));
    this.#put(AT.speed, this.#signMagnitude(Math.round(this.#speed), 15));
    const lag = this.isPowered ? this.#word(AT.goal) - this.position : 0;
    const load = blocked && lag < 0 ? Math.min(this.#word(48), 400 - lag) : Math.abs(this.#speed) / 10;
    this.#put(AT.load, this.#signMagnitude(Math.round(Math.sign(lag) * load), 10));
  }

  /** Share of the stall torque with which the position loop pulls, within its torque limit. */
  get pull(): number {
    if (!this.isPowered) return 0;
    const wanted = (this.#word(AT.goal) - this.position) / FULL_PULL_STEPS;
    const most = this.#word(AT.limit) / 1000;
    return Math.max(-most, Math.min(most, wanted));
  }

  /** Something else moves the shaft, with or without torque. */
  carry(steps: number): void {
    this.position = steps;
    this.#speed = 0;
    this.#put(AT.position, this.#signMagnitude(Math.round(steps), 15));
    this.#put(AT.load, this.#signMagnitude(Math.round(this.pull * 1000), 10));
  }

  /** Moves an unpowered shaft as a person would. */
  turnTo(steps: number): void {
    if (!this.isPowered) this.position = steps;
    this.step(0);
  }

  #servo(dtS: number): void {
    const goal = Math.max(this.#word(AT.min), Math.min(this.#word(AT.max), this.#word(AT.goal)));
    const error = Math.max(goal, this.blockedBelow) - this.position;
    const wanted =
      Math.sign(error) *
      Math.min(STALL_STEPS_S, Math.abs(error) / dtS, Math.sqrt(2 * MAX_STEPS_S2 * Math.abs(error)));
    const change = Math.max(-MAX_STEPS_S2 * dtS, Math.min(MAX_STEPS_S2 * dtS, wanted - this.#speed));
    this.#speed += change;
    this.position += this.#speed * dtS;
  }

  #put(at: number, value: number): void {
    this.table[at] = value & 0xff;
    this.table[at + 1] = (value >> 8) & 0xff;
  }

  #word(at: number): number {
    return this.table[at]! | (this.table[at + 1]! << 8);
  }

  #signed(at: number, bit: number): number {
    const raw = this.#word(at);
    const size = raw & ((1 << bit) - 1);
    return raw & (1 << bit) ? -size : size;
  }

  #signMagnitude(value: number, bit: number): number {
    return value < 0 ? -value | (1 << bit) : value;
  }
}
