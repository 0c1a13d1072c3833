import { TeleopError } from '../../../core/errors.ts';
import type { Clock } from '../../../core/time/clock.ts';
import type { RobotModel } from '../../../geometry/robot-model.ts';
import { REGISTER } from '../../buses/dynamixel/control-table.ts';
import { DYNAMIXEL_2 } from '../../buses/dynamixel/dynamixel-2.ts';
import { serialLine } from '../../buses/serial-line.ts';
import { syncReadBytes, syncWrite } from '../../buses/servo/operations.ts';
import { ServoBus } from '../../buses/servo/servo-bus.ts';
import { unsignedAt } from '../../buses/servo/values.ts';
import { defaultCalibrationFile, loadCalibration } from './calibration-file.ts';
import type { OrcaConfig } from './config.ts';
import { type Hand, handOf } from './hands.ts';
import { JointMap } from './mapping.ts';
import { OrcaDriver } from './orca-driver.ts';
import { HandPreparation, Refused } from './prepare.ts';

const TRIES = 4;
/** Model number to firmware version. */
const IDENTITY_BYTES = REGISTER.firmware.address + 1;
const ANSWER_ALL = 2;

interface MotorInfo {
  modelNumber: number;
  firmware: number;
}

/** Connects, checks that all motors are present and of the right type, and reads positions. Moves nothing. */
export async function openOrca(config: OrcaConfig, model: RobotModel, clock: Clock): Promise<OrcaDriver> {
  const hand = handOf(model);
  const ranges = loadCalibration(config.calibrationFile || defaultCalibrationFile(hand), hand);
  const bus = await ServoBus.open(
    serialLine(config.port, config.baudRate ?? hand.baudRate),
    DYNAMIXEL_2,
    clock,
  );
  try {
    const motors = await identify(bus, hand);
    const map = new JointMap(hand, ranges);
    const lost = map.rewrap(await new HandPreparation(bus, hand, () => {}).positions());
    if (lost !== '') throw outOfRange(lost);
    const canBeFast = hand.joints.every(
      ({ motorId, motor }) => motors.get(motorId)!.firmware >= motor.fastReadFirmware,
    );
    return new OrcaDriver(bus, hand, map, config, canBeFast, clock);
  } catch (error) {
    bus.close();
    throw error instanceof Refused ? silent(error.message, hand, bus) : error;
  }
}

/** All motors of the hand by id. Throws if one is missing or of another type. */
export async function identify(bus: ServoBus, hand: Hand): Promise<Map<number, MotorInfo>> {
  const ids = hand.joints.map(({ motorId }) => motorId);
  const found = new Map<number, MotorInfo>();
  for (let i = 0; i < TRIES && found.size < ids.length; i++) {
    await syncWrite(bus, ids, REGISTER.statusReturnLevel, ANSWER_ALL);
    const missing = ids.filter((id) => !found.has(id));
    for (const [id, { data }] of await syncReadBytes(bus, missing, 0, IDENTITY_BYTES))
      found.set(id, { modelNumber: unsignedAt(data, 0, 2), firmware: data[IDENTITY_BYTES - 1]! });
  }
  const missing = hand.joints.filter(({ motorId }) => !found.has(motorId));
  if (missing.length > 0) {
    const who =
      missing.length === ids.length
        ? 'none of the hand’s motors replies'
        : `no reply from ${missing.map(({ name, motorId }) => `${name} (motor ${motorId})`).join(', ')}`;
    throw silent(who, hand, bus);
  }
  const other = hand.joints.find(
    ({ motorId, motor }) => found.get(motorId)!.modelNumber !== motor.modelNumber,
  );
  if (other !== undefined)
    throw new TeleopError(
      'model-mismatch',
      `motor ${other.motorId} (${other.name}) reports model ${found.get(other.motorId)!.modelNumber}, not ${other.motor.modelNumber} (${other.motor.name})`,
      { hint: 'Check that `model` in the rig names this hand: version and side map motors to joints.' },
    );
  return found;
}

function silent(what: string, { baudRate, name }: Hand, bus: ServoBus): TeleopError {
  return new TeleopError('robot-silent', `${what} on ${bus.name} at ${bus.baudRate} baud`, {
    hint: `Check the hand’s power and the daisy chain after the last motor that replies; ${name} ships with ${baudRate} baud.`,
  });
}

function outOfRange(lost: string): TeleopError {
  return new TeleopError('not-calibrated', lost, {
    hint: 'Move the joint back by hand; if it is in place, run `farhand calibrate orca` again.',
  });
}
