import { z } from 'zod';
import type { RobotModel } from '../../../geometry/robot-model.ts';
import { CAN_NAME } from '../open-can.ts';
import { type ArmSpec, type MotorSpec, STOP_KINDS } from './arm-spec.ts';
import { KD_MAX, KP_MAX } from './frames.ts';
import { MOTOR_TYPE_NAMES, type MotorType } from './motors.ts';

/** Defaults of an arm model; one entry per joint, then the gripper's motor. */
export interface ArmFacts {
  bus: string;
  fd: boolean;
  motors: readonly MotorType[];
  kp: readonly number[];
  kd: readonly number[];
  control: 'mit' | 'position-velocity';
  gripper: {
    motor: MotorType;
    openRad: number;
    closedRad: number;
    control: 'force' | 'mit';
    currentShare: number;
    velocityRadS: number;
    homing: boolean;
  };
}

const DATA_BITRATES = [1_000_000, 2_000_000, 4_000_000, 5_000_000, 8_000_000] as const;
const turn = z.number().min(-12.5).max(12.5);

/** The settings of an arm, with its facts as defaults. */
export function armConfig(facts: ArmFacts) {
  const joints = facts.motors.length;
  const each = <T extends z.ZodType>(item: T) =>
    z.array(item).length(joints, `needs ${joints} values, one per joint`);
  const gripper = z.strictObject({
    present: z.boolean().default(true).describe('whether the bus has a gripper motor'),
    motor: z.enum(MOTOR_TYPE_NAMES).default(facts.gripper.motor).describe('motor type'),
    control: z
      .enum(['force', 'mit'])
      .default(facts.gripper.control)
      .describe('force: position with a limited current; mit: a spring'),
    openRad: turn.default(facts.gripper.openRad).describe('motor angle when open'),
    closedRad: turn.default(facts.gripper.closedRad).describe('motor angle when closed'),
    currentShare: z
      .number()
      .min(0.01)
      .max(1)
      .default(facts.gripper.currentShare)
      .describe('force: current limit, as a share of the motor’s maximum'),
    velocityRadS: z
      .number()
      .min(0.1)
      .max(30)
      .default(facts.gripper.velocityRadS)
      .describe('force: speed limit'),
    kp: z.number().min(0).max(KP_MAX).default(5).describe('mit: stiffness'),
    kd: z.number().min(0).max(KD_MAX).default(0.1).describe('mit: damping'),
    homing: z
      .boolean()
      .default(facts.gripper.homing)
      .describe('force: find the open end at the first enable; angles count from there'),
  });
  return z
    .strictObject({
      bus: z
        .string()
        .regex(CAN_NAME, 'write socketcan:can0, slcan:/dev/ttyACM0 or damiao:/dev/ttyACM0')
        .default(facts.bus)
        .describe('CAN bus of the arm: socketcan:NAME, slcan:PATH or damiao:PATH'),
      fd: z.boolean().default(facts.fd).describe('use CAN FD frames; must match the motors’ setting'),
      dataBitrate: z
        .literal(DATA_BITRATES)
        .default(5_000_000)
        .describe('CAN FD data bit rate, for slcan and the load estimate; a kernel interface sets its own'),
      control: z
        .enum(['mit', 'position-velocity'])
        .default(facts.control)
        .describe('mit: spring and damper with a target; position-velocity: the motor’s own position loop'),
      motors: each(z.enum(MOTOR_TYPE_NAMES))
        .default([...facts.motors])
        .describe('type of each motor'),
      ids: each(z.int().min(1).max(0x0f))
        .default(facts.motors.map((_, i) => i + 1))
        .describe('CAN id of each joint’s motor, in the order of the model'),
      gripperId: z
        .int()
        .min(1)
        .max(0x0f)
        .default(joints + 1)
        .describe('CAN id of the gripper’s motor'),
      replyOffset: z.int().min(1).max(0x70).default(0x10).describe('a motor replies under its id plus this'),
      kp: each(z.number().min(0).max(KP_MAX))
        .default([...facts.kp])
        .describe('mit: stiffness of each joint'),
      kd: each(z.number().min(0).max(KD_MAX, 'a Damiao motor takes at most 5'))
        .default([...facts.kd])
        .describe('mit: damping of each joint'),
      velocitiesRadS: each(z.number().min(0.05).max(20))
        .default(facts.motors.map(() => 1.1))
        .describe('position-velocity: speed limit of each joint'),
      directions: each(z.literal([1, -1]))
        .default(facts.motors.map(() => 1))
        .describe('-1 if the motor turns opposite to the model’s joint'),
      offsetsRad: each(turn)
        .default(facts.motors.map(() => 0))
        .describe('motor angle at the joint’s zero'),
      gripper: gripper.prefault({}).describe('the gripper'),
      onStop: z
        .enum(STOP_KINDS)
        .default('hold')
        .describe('on stop: stay powered in place; sink slowly (mit); or cut power and drop'),
      feedForward: z
        .boolean()
        .default(true)
        .describe('mit: send the target velocity to the motors, so that damping causes no lag'),
      feedbackTimeoutMs: z
        .number()
        .min(20)
        .max(1000)
        .default(100)
        .describe('a motor silent for this long is a fault'),
      acceptAnyLimits: z
        .boolean()
        .default(false)
        .describe('accept motors whose registers 21 to 23 do not match their type'),
    })
    .refine(({ control, onStop }) => onStop !== 'damp' || control === 'mit', {
      error: '`onStop: damp` needs `control: mit`',
      path: ['onStop'],
    })
    .refine(({ ids, gripper, gripperId }) => isUnique(gripper.present ? [...ids, gripperId] : ids), {
      error: 'two motors have the same id',
      path: ['ids'],
    });
}

const isUnique = (ids: readonly number[]): boolean => new Set(ids).size === ids.length;

export type ArmConfig = z.infer<ReturnType<typeof armConfig>>;

export function armSpec(config: ArmConfig, model: RobotModel): ArmSpec {
  const mode = config.control === 'mit' ? 'mit' : 'positionVelocity';
  const joints = config.motors.map(
    (type, i): MotorSpec => ({
      name: model.joints[i]?.name ?? `joint${i + 1}`,
      id: config.ids[i]!,
      replyId: config.ids[i]! + config.replyOffset,
      type,
      mode,
      kp: config.kp[i]!,
      kd: config.kd[i]!,
      velocityRadS: config.velocitiesRadS[i]!,
      currentShare: 1,
      direction: config.directions[i]!,
      offsetRad: config.offsetsRad[i]!,
    }),
  );
  const { fd, dataBitrate, onStop, feedForward, feedbackTimeoutMs, acceptAnyLimits } = config;
  const gripper = config.gripper.present ? gripperSpec(config) : null;
  return { joints, gripper, fd, dataBitrate, onStop, feedForward, feedbackTimeoutMs, acceptAnyLimits };
}

function gripperSpec({ gripper, gripperId, replyOffset }: ArmConfig): ArmSpec['gripper'] {
  const { motor, control, kp, kd, velocityRadS, currentShare, openRad, closedRad, homing } = gripper;
  const isForce = control === 'force';
  return {
    motor: {
      name: 'gripper',
      id: gripperId,
      replyId: gripperId + replyOffset,
      type: motor,
      mode: isForce ? 'positionForce' : 'mit',
      kp,
      kd,
      velocityRadS,
      currentShare,
      direction: 1,
      offsetRad: 0,
    },
    openRad,
    closedRad,
    homing: homing && isForce ? { velocityRadS: Math.min(5, velocityRadS), currentShare } : null,
  };
}
