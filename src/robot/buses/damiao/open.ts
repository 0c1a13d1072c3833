import { TeleopError } from '../../../core/errors.ts';
import type { Clock } from '../../../core/time/clock.ts';
import type { RobotModel } from '../../../geometry/robot-model.ts';
import type { CanBackend, CanBus } from '../can.ts';
import { canBackend } from '../open-can.ts';
import { DAMIAO_BITRATE, DamiaoArmDriver } from './arm-driver.ts';
import type { ArmSpec, MotorSpec } from './arm-spec.ts';
import type { DamiaoFeedback } from './feedback.ts';
import { REGISTER, readFrame, refreshFrame } from './frames.ts';
import { arePlausible, isOfType, type MotorLimits, typesWith } from './motors.ts';

const REPLY_MS = 100;
const TRIES = 5;
const FEEDBACK_MS = 800;
const LIMIT_REGISTERS = [REGISTER.positionMax, REGISTER.velocityMax, REGISTER.torqueMax];

/** Connects, reads every motor's frame scale, and waits for feedback. Moves and powers nothing. */
export async function openDamiaoArm(
  bus: string,
  spec: ArmSpec,
  model: RobotModel,
  clock: Clock,
  backend: CanBackend = canBackend(bus, DAMIAO_BITRATE, spec.fd ? spec.dataBitrate : undefined),
): Promise<DamiaoArmDriver> {
  checkModel(spec, model);
  const driver = await DamiaoArmDriver.connect(spec, model, clock, backend);
  try {
    await identifyMotors(driver, spec, model);
    return driver;
  } catch (error) {
    driver.dispose();
    throw error;
  }
}

/** Motors on a bus, and what they last reported. */
export interface DamiaoMotors {
  readonly bus: CanBus;
  readonly feedback: DamiaoFeedback;
  readonly motors: readonly MotorSpec[];
}

/** All must reply and be of the expected types; from then on their feedback counts. */
export async function identifyMotors(arm: DamiaoMotors, spec: ArmSpec, model: RobotModel): Promise<void> {
  await readLimits(arm, spec);
  checkLimits(arm, spec, model);
  await awaitFeedback(arm, spec);
}

function checkModel(spec: ArmSpec, model: RobotModel): void {
  if (model.joints.length === spec.joints.length) return;
  throw new TeleopError(
    'model-mismatch',
    `the model "${model.name}" has ${model.joints.length} joints, the arm has ${spec.joints.length}`,
    { hint: 'Set `model` in the rig to this arm’s model; `farhand robots` lists them.' },
  );
}

async function readLimits({ bus, feedback, motors }: DamiaoMotors, spec: ArmSpec): Promise<void> {
  const missing = (register: number) => motors.filter((_, i) => feedback.register(i, register) === undefined);
  const open = () => LIMIT_REGISTERS.some((register) => missing(register).length > 0);
  for (let i = 0; i < TRIES && open(); i++) {
    for (const register of LIMIT_REGISTERS) {
      bus.send(missing(register).map(({ id }) => readFrame(id, register, spec.fd)));
      await bus.until(() => missing(register).length === 0, REPLY_MS);
    }
  }
  const silent = motors.filter((motor) =>
    LIMIT_REGISTERS.some((register) => missing(register).includes(motor)),
  );
  if (silent.length === 0) return;
  const { received, errors, lastError } = bus.stats;
  const names = silent.map(({ name, id }) => `${name} (id ${id})`).join(', ');
  const seen = received === 0 ? 'no frame received' : `${received} frames received`;
  throw new TeleopError(
    'robot-silent',
    `no reply on ${bus.name} from ${names}: ${seen}${errors > 0 ? `; ${errors} errors, last: ${lastError}` : ''}`,
    {
      hint: 'Check power, CAN wires and ids, and that `fd` and the bit rate match the motors’ setting (register 35).',
    },
  );
}

/** A motor with another scale would misread every angle, speed and torque. */
function checkLimits({ feedback, motors }: DamiaoMotors, spec: ArmSpec, model: RobotModel): void {
  motors.forEach(({ name, type, direction, offsetRad }, i) => {
    const reported: MotorLimits = {
      positionRad: feedback.register(i, REGISTER.positionMax)!,
      velocityRadS: feedback.register(i, REGISTER.velocityMax)!,
      torqueNm: feedback.register(i, REGISTER.torqueMax)!,
    };
    const text = `PMAX ${reported.positionRad}, VMAX ${reported.velocityRadS}, TMAX ${reported.torqueNm}`;
    if (!arePlausible(reported) || (!spec.acceptAnyLimits && !isOfType(reported, type))) {
      const others = typesWith(reported);
      const guess = others.length === 0 ? 'no known type' : others.join(' or ');
      throw new TeleopError('model-mismatch', `${name} should be a ${type}, but reports ${text}: ${guess}`, {
        hint: 'Check that the right motor has this id, or restore its registers 21 to 23 with the vendor’s tool; `acceptAnyLimits: true` accepts the reported limits.',
      });
    }
    const joint = model.joints[i];
    const ends =
      joint === undefined ? [] : [joint.minRad, joint.maxRad].map((rad) => direction * rad + offsetRad);
    if (ends.some((rad) => Math.abs(rad) > reported.positionRad))
      throw new TeleopError('model-mismatch', `the model’s range of ${name} exceeds its motor’s: ${text}`, {
        hint: 'Check the model’s range and the joint’s offset.',
      });
    feedback.limits[i] = reported;
  });
}

async function awaitFeedback({ bus, feedback, motors }: DamiaoMotors, spec: ArmSpec): Promise<void> {
  const answered = () => feedback.oldestNs(motors.length) > Number.NEGATIVE_INFINITY;
  for (let waitedMs = 0; waitedMs < FEEDBACK_MS; waitedMs += REPLY_MS) {
    bus.send(motors.map(({ id }) => refreshFrame(id, spec.fd)));
    if (await bus.until(answered, REPLY_MS)) return;
  }
  const silent = motors.filter((_, i) => feedback.receivedNs[i] === Number.NEGATIVE_INFINITY);
  throw new TeleopError(
    'robot-silent',
    `${silent.map(({ name }) => name).join(', ')} reported limits on ${bus.name}, but no position`,
    { hint: 'Update the motors’ firmware: a motor must reply to a refresh (7FF#…CC) while disabled.' },
  );
}
