import { z } from 'zod';
import { TeleopError } from '../../../core/errors.ts';
import { parseJson } from '../../../core/parse-json.ts';
import { readBounded } from '../../../files/read-bounded.ts';
import { writeWhole } from '../../../files/write-whole.ts';
import type { Hand } from './hands.ts';

const FORMAT = 'farhand-orca/1';
/** Ranges outside these bounds are impossible: the stop was not found, or the tendon is loose. */
const MIN_RANGE_RAD = 0.2;
export const MAX_RANGE_RAD = 1.4 * Math.PI;

/** Motor angles at the two stops of a joint. */
export interface MotorRange {
  readonly lowRad: number;
  readonly highRad: number;
}

const MAX_FILE_BYTES = 1 << 20;
const limit = z.number().min(-1700).max(1700).nullable();
const content = z.strictObject({
  format: z.literal(FORMAT),
  hand: z.string(),
  joints: z.record(z.string(), z.strictObject({ lowRad: limit, highRad: limit })),
});

/** Partial: a stop not found yet is null. */
export type PartialRanges = Record<string, { lowRad: number | null; highRad: number | null }>;

export const defaultCalibrationFile = (hand: Hand): string => `${hand.name}.calibration.json`;

/** Ranges from an earlier calibration; empty without a file. Throws if the file is not ours. */
export function readRanges(file: string, hand: Hand): PartialRanges {
  let text: string;
  try {
    text = readBounded(file).bytes.toString();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw unreadable(file, String(cause), cause);
  }
  const calibration = parseJson(text, content, MAX_FILE_BYTES);
  if (typeof calibration === 'string')
    throw unreadable(file, `not a calibration of an ORCA hand (${calibration})`);
  if (calibration.hand !== hand.name)
    throw unreadable(file, `it is a calibration of ${calibration.hand}, not of ${hand.name}`);
  return calibration.joints;
}

/** The ranges of all joints, in the hand's order. */
export function loadCalibration(file: string, hand: Hand): MotorRange[] {
  const ranges = readRanges(file, hand);
  const missing = hand.joints.filter(({ name }) => !isWhole(ranges[name])).map(({ name }) => name);
  if (missing.length > 0)
    throw new TeleopError(
      'not-calibrated',
      missing.length === hand.joints.length
        ? `${hand.name} is not calibrated: ${file} does not exist`
        : `${file} has no valid range for ${missing.join(', ')}`,
      { hint: `Run \`farhand calibrate orca --port PATH --hand ${hand.name.slice('orca-'.length)}\`.` },
    );
  return hand.joints.map(({ name }) => ranges[name] as MotorRange);
}

export function isWhole(range: PartialRanges[string] | undefined): range is MotorRange {
  if (range === undefined || range.lowRad === null || range.highRad === null) return false;
  const widthRad = range.highRad - range.lowRad;
  return widthRad >= MIN_RANGE_RAD && widthRad <= MAX_RANGE_RAD;
}

export function saveRanges(file: string, hand: Hand, joints: PartialRanges): void {
  writeWhole(file, `${JSON.stringify({ format: FORMAT, hand: hand.name, joints }, null, 1)}\n`, {
    hint: 'Choose a folder that exists and that you may write to.',
  });
}

function unreadable(file: string, why: string, cause?: unknown): TeleopError {
  return new TeleopError('file-unreadable', `cannot use ${file}: ${why}`, {
    hint: 'Move it away and calibrate again, or name another file.',
    cause,
  });
}
