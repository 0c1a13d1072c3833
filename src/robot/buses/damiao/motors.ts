/** Full-scale values of a motor's frames, stored in its registers 21, 22 and 23. */
export interface MotorLimits {
  positionRad: number;
  velocityRadS: number;
  torqueNm: number;
}

const limits = (positionRad: number, velocityRadS: number, torqueNm: number): MotorLimits => ({
  positionRad,
  velocityRadS,
  torqueNm,
});

/**
 * Factory values by type. Where sources disagree both are listed (DM4340: openarm_can has 10 rad/s, DM_CAN
 * and lerobot have 8); the motor reports which one applies.
 */
export const MOTOR_TYPES = {
  DM3507: [limits(12.5, 50, 5)],
  DM4310: [limits(12.5, 30, 10)],
  DM4310_48V: [limits(12.5, 50, 10)],
  DM4340: [limits(12.5, 10, 28), limits(12.5, 8, 28)],
  DM6006: [limits(12.5, 45, 20)],
  DM8006: [limits(12.5, 45, 40)],
  DM8009: [limits(12.5, 45, 54)],
} as const satisfies Record<string, readonly MotorLimits[]>;

export type MotorType = keyof typeof MOTOR_TYPES;
export const MOTOR_TYPE_NAMES = Object.keys(MOTOR_TYPES) as [MotorType, ...MotorType[]];

/** Register values are float32. */
const near = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-3 * Math.max(1, b);

const sameLimits = (a: MotorLimits, b: MotorLimits): boolean =>
  near(a.positionRad, b.positionRad) && near(a.velocityRadS, b.velocityRadS) && near(a.torqueNm, b.torqueNm);

export const isOfType = (reported: MotorLimits, type: MotorType): boolean =>
  MOTOR_TYPES[type].some((known) => sameLimits(reported, known));

/** Motor types with these limits, for error messages. */
export const typesWith = (reported: MotorLimits): MotorType[] =>
  MOTOR_TYPE_NAMES.filter((type) => isOfType(reported, type));

/** Plausible full-scale values: finite, above zero, below any real motor's maximum. */
export const arePlausible = ({ positionRad, velocityRadS, torqueNm }: MotorLimits): boolean =>
  [positionRad, velocityRadS, torqueNm].every((value) => value > 0.1 && value < 1000);
