import type { Register } from '../servo/servo-protocol.ts';

const register = (address: number, size: 1 | 2 | 4): Register => ({ address, size });

/** X series. Addresses below 64 are EEPROM: writable only while torque is off. */
export const REGISTER = {
  modelNumber: register(0, 2),
  firmware: register(6, 1),
  id: register(7, 1),
  baudRate: register(8, 1),
  /** In steps of 2 µs, factory default 250. */
  returnDelay: register(9, 1),
  operatingMode: register(11, 1),
  currentLimit: register(38, 2),
  shutdown: register(63, 1),
  torqueEnable: register(64, 1),
  /** 0: only pings are answered; 1: reads too; 2: all. */
  statusReturnLevel: register(68, 1),
  hardwareError: register(70, 1),
  /** In steps of 20 ms; 0 is off and clears an expiry, which reads as −1. */
  busWatchdog: register(98, 1),
  /** 1 mA; the 430 series has none. */
  goalCurrent: register(102, 2),
  profileAcceleration: register(108, 4),
  /** 0.229 rpm */
  profileVelocity: register(112, 4),
  goalPosition: register(116, 4),
  moving: register(122, 1),
  presentCurrent: register(126, 2),
  /** 0.229 rpm */
  presentVelocity: register(128, 4),
  presentPosition: register(132, 4),
  inputVoltage: register(144, 2),
  temperature: register(146, 1),
} as const;

export const EEPROM_BYTES = 64;
/** Current, velocity and position are adjacent. */
export const PRESENT = { address: 126, size: 10, velocityAt: 2, positionAt: 6 } as const;

export const MODE = { current: 0, velocity: 1, position: 3, extended: 4, currentBasedPosition: 5 } as const;

export const TICKS_PER_TURN = 4096;
export const RAD_PER_TICK = (2 * Math.PI) / TICKS_PER_TURN;
export const RAD_S_PER_VELOCITY_UNIT = (0.229 * 2 * Math.PI) / 60;
/** In multi-turn modes. */
export const MAX_TICKS = 1_048_575;
export const WATCHDOG_UNIT_MS = 20;
export const WATCHDOG_EXPIRED = 0xff;

export interface MotorType {
  readonly name: string;
  readonly modelNumber: number;
  readonly hasCurrentControl: boolean;
  /**
   * Torque per unit of the present current: stall torque over stall current at 12 V by the maker's data sheet; without
   * current control the unit is 0.1 % of the stall torque. UNVERIFIED ON HARDWARE
   */
  readonly nmPerUnit: number;
  /** First firmware version with fast sync read. */
  readonly fastReadFirmware: number;
}

export const XC330: MotorType = {
  name: 'XC330-T288',
  modelNumber: 1220,
  hasCurrentControl: true,
  nmPerUnit: 0.92 / 800,
  fastReadFirmware: 46,
};
/** Of an XL330-M077 at 5 V, with 1.47 A, by the maker's data sheet. */
export const XL330_STALL_NM = 0.215;
export const XL330: MotorType = {
  ...XC330,
  name: 'XL330-M077',
  modelNumber: 1190,
  nmPerUnit: XL330_STALL_NM / 1470,
};
export const XC430: MotorType = {
  name: 'XC430-T240BB',
  modelNumber: 1080,
  hasCurrentControl: false,
  nmPerUnit: 1.9 / 1000,
  fastReadFirmware: 45,
};

/** Top bit of an error byte: see the hardware error register. */
export const ALERT = 0x80;

export const STATUS_ERROR = {
  result: 1,
  instruction: 2,
  crc: 3,
  range: 4,
  length: 5,
  limit: 6,
  access: 7,
} as const;

export const HARDWARE_ERROR = {
  voltage: 0x01,
  overheat: 0x04,
  encoder: 0x08,
  shock: 0x10,
  overload: 0x20,
} as const;

const HARDWARE_TEXTS: readonly (readonly [number, string])[] = [
  [HARDWARE_ERROR.voltage, 'input voltage out of range'],
  [HARDWARE_ERROR.overheat, 'overheated'],
  [HARDWARE_ERROR.encoder, 'encoder error'],
  [HARDWARE_ERROR.shock, 'electrical shock or insufficient power'],
  [HARDWARE_ERROR.overload, 'overload'],
];

/** The hardware error register as text; empty when nothing is wrong. */
export function hardwareErrorText(flags: number): string {
  const known = HARDWARE_TEXTS.filter(([bit]) => flags & bit).map(([, text]) => text);
  const rest = flags & ~HARDWARE_TEXTS.reduce((all, [bit]) => all | bit, 0);
  return [...known, ...(rest === 0 ? [] : [`hardware error ${rest}`])].join(', ');
}
