import { TeleopError } from '../../../core/errors.ts';
import { fromSigned, SIGN_BIT, STS, STS_MODEL } from '../../buses/feetech/sts3215.ts';
import { isInStep, read, syncRead, write } from '../../buses/servo/operations.ts';
import type { ServoBus } from '../../buses/servo/servo-bus.ts';
import type { Register } from '../../buses/servo/servo-protocol.ts';
import { Refused } from '../../buses/wait.ts';
import { MOTORS, type MotorCalibration } from './calibration-file.ts';
import type { So101Config } from './config.ts';

const TRIES = 4;
/** About a second: on a busy machine, the bytes of a serial line can wait that long for a core. */
const OPEN_TRIES = 25;
export const IDS = MOTORS.map((_, i) => i + 1);

/** After an incomplete read: false if no servo replies. */
async function getInStep(bus: ServoBus): Promise<boolean> {
  for (let i = 0; i < OPEN_TRIES; i++) if (await isInStep(bus, IDS[i % IDS.length]!)) return true;
  return false;
}

/** All servos must be there and be STS3215. Moves and powers nothing. */
export async function identify(bus: ServoBus): Promise<void> {
  let models = new Map<number, number>();
  for (let i = 0; i < OPEN_TRIES && models.size < IDS.length; i++)
    models = await syncRead(bus, IDS, STS.model);
  const missing = IDS.filter((id) => !models.has(id));
  if (missing.length > 0)
    throw new TeleopError('robot-silent', `no reply from servo ${missing.join(', ')} on ${bus.name}`, {
      hint: 'Check the arm’s power, the daisy chain after the last servo that replies, and the servos’ ids (1 to 6).',
    });
  await getInStep(bus);
  const other = IDS.find((id) => models.get(id) !== STS_MODEL);
  if (other !== undefined)
    throw new TeleopError('model-mismatch', `servo ${other} reports model ${models.get(other)}`, {
      hint: `This driver is for STS3215 servos (model ${STS_MODEL}).`,
    });
}

/** As the servos have it stored. */
export async function storedCalibration(bus: ServoBus): Promise<MotorCalibration[]> {
  const [min, max, offset] = [
    await complete(bus, STS.minPosition),
    await complete(bus, STS.maxPosition),
    await complete(bus, STS.homingOffset),
  ];
  return IDS.map((id) => ({
    id,
    drive_mode: 0,
    homing_offset: fromSigned(offset.get(id)!, SIGN_BIT.homingOffset),
    range_min: min.get(id)!,
    range_max: max.get(id)!,
  }));
}

async function complete(bus: ServoBus, register: Register): Promise<Map<number, number>> {
  for (let i = 0; i < OPEN_TRIES; i++) {
    const values = await syncRead(bus, IDS, register);
    if (values.size === IDS.length) return values;
    if (!(await getInStep(bus))) break;
  }
  throw new TeleopError('robot-silent', `the servos on ${bus.name} do not all reply`, {
    hint: 'Check the cables between the servos.',
  });
}

/** What both say must be equal: another offset would move every joint's zero. */
export function expectSame(file: readonly MotorCalibration[], stored: readonly MotorCalibration[]): void {
  const i = file.findIndex(
    ({ id, homing_offset, range_min, range_max }, at) =>
      id !== stored[at]!.id ||
      homing_offset !== stored[at]!.homing_offset ||
      range_min !== stored[at]!.range_min ||
      range_max !== stored[at]!.range_max,
  );
  if (i >= 0)
    throw new TeleopError(
      'not-calibrated',
      `the servo of ${MOTORS[i]} has another calibration than the file`,
      {
        hint: 'Write the file to the servos: `farhand calibrate so101 --port PATH --file FILE --apply`.',
      },
    );
}

/** Gains and limits; the joints hold where they are. */
export async function powerOn(bus: ServoBus, config: So101Config, signal: AbortSignal): Promise<void> {
  if (!(await getInStep(bus))) throw new Refused('the servos do not reply');
  const present = await complete(bus, STS.presentPosition);
  for (const id of IDS) {
    const at = present.get(id)!;
    await set(bus, id, STS.lock, 0);
    await set(bus, id, STS.mode, 0);
    await set(bus, id, STS.p, config.p);
    await set(bus, id, STS.i, 0);
    await set(bus, id, STS.d, config.d);
    await set(bus, id, STS.lock, 1);
    if (id === IDS.length) await set(bus, id, STS.torqueLimit, Math.round(10 * config.gripperTorquePercent));
    await set(bus, id, STS.acceleration, 254);
    // The goal is where the joint is, so torque moves nothing.
    await set(bus, id, STS.goalPosition, at);
    if (signal.aborted) throw new Refused('interrupted');
    await set(bus, id, STS.torqueEnable, 1);
  }
}

export async function set(bus: ServoBus, id: number, register: Register, value: number): Promise<void> {
  for (let i = 0; i < TRIES; i++) {
    await write(bus, id, register, value);
    if ((await read(bus, id, register)) === value) return;
  }
  throw new Refused(`servo ${id} does not take register ${register.address}`);
}
