import { z } from 'zod';
import { TeleopError } from '../../../core/errors.ts';
import { parseJson } from '../../../core/parse-json.ts';
import { readBounded } from '../../../files/read-bounded.ts';
import { writeWhole } from '../../../files/write-whole.ts';

/** In the order of their ids, 1 to 6; the names are LeRobot's. */
export const MOTORS = [
  'shoulder_pan',
  'shoulder_lift',
  'elbow_flex',
  'wrist_flex',
  'wrist_roll',
  'gripper',
] as const;

const steps = z.int().min(0).max(4095);
const motor = z
  .strictObject({
    id: z.int().min(1).max(253),
    drive_mode: z.int().min(0).max(1),
    homing_offset: z.int().min(-2047).max(2047),
    range_min: steps,
    range_max: steps,
  })
  .refine(({ range_min, range_max }) => range_min < range_max, 'range_min must be below range_max');

/** LeRobot's calibration of an SO-100 or SO-101: one entry per motor. */
const calibrationSchema = z.record(z.string(), motor);
export type MotorCalibration = z.infer<typeof motor>;

const MAX_FILE_BYTES = 1 << 16;

/** The entries in the order of `MOTORS`. */
export function loadCalibration(file: string): MotorCalibration[] {
  let text: string;
  try {
    text = readBounded(file).bytes.toString();
  } catch (cause) {
    throw unusable(file, (cause as Error).message, cause);
  }
  const found = parseJson(text, calibrationSchema, MAX_FILE_BYTES);
  if (typeof found === 'string') throw unusable(file, `not a calibration of LeRobot (${found})`);
  const missing = MOTORS.filter((name) => found[name] === undefined);
  if (missing.length > 0) throw unusable(file, `no entry for ${missing.join(', ')}`);
  return MOTORS.map((name) => found[name]!);
}

/** As LeRobot writes it. */
export function saveCalibration(file: string, motors: readonly MotorCalibration[]): void {
  const entries = Object.fromEntries(MOTORS.map((name, i) => [name, motors[i]!]));
  writeWhole(file, `${JSON.stringify(entries, null, 4)}\n`, {
    hint: 'Choose a folder that exists and that you may write to.',
  });
}

function unusable(file: string, why: string, cause?: unknown): TeleopError {
  return new TeleopError('file-unreadable', `cannot use ${file}: ${why}`, {
    hint: 'Name a file of `lerobot-calibrate`, or leave calibrationFile empty: the servos know their ranges.',
    cause,
  });
}
