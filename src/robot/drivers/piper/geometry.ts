import { TeleopError } from '../../../core/errors.ts';
import { type Chain, createChain } from '../../../geometry/chain.ts';
import type { RobotModel } from '../../../geometry/robot-model.ts';
import { PIPER_JOINTS } from './frames.ts';

/** Firmware before 1.6-3 has the zero of joints 2 and 3 shifted by 2°; the model must match. */
export type DhVariant = 'new' | 'old';

const MODEL_NAMES: Record<DhVariant, string> = { new: 'piper', old: 'piper-old' };
const FIRMWARE: Record<DhVariant, string> = { new: '1.6-3 or newer', old: 'older than 1.6-3' };
/** Height of the flange with all joints at zero. */
const ZERO_HEIGHT_M: Record<DhVariant, number> = { new: 0.2132663, old: 0.2033869 };
const HEIGHT_TOLERANCE_M = 0.002;

/** Forward kinematics to the arm's flange, which the arm calls its end pose: no tool. */
export const flangeChain = (model: RobotModel): Chain =>
  createChain({ ...model, tool: { xyzM: [0, 0, 0], rpyRad: [0, 0, 0] } });

/** Which variant a model is, by where its flange is with all joints at zero. */
export function variantOfModel(model: RobotModel): DhVariant {
  if (model.joints.length === PIPER_JOINTS) {
    const positionM = new Float64Array(3);
    flangeChain(model).frame(new Float64Array(PIPER_JOINTS), PIPER_JOINTS, positionM, new Float64Array(4));
    for (const variant of ['new', 'old'] as const)
      if (Math.abs(positionM[2]! - ZERO_HEIGHT_M[variant]) < HEIGHT_TOLERANCE_M) return variant;
  }
  throw new TeleopError('model-mismatch', `the model "${model.name}" is not a Piper`, {
    hint: 'Set `model: piper` in the rig, or `piper-old` for firmware before 1.6-3.',
  });
}

/** `1.8-2` → new. */
export function variantOfFirmware(version: string): DhVariant {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number);
  return major * 1e6 + minor * 1e3 + patch >= 1_006_003 ? 'new' : 'old';
}

/** Throws if the arm's zero does not match the model's. */
export function checkVariant(firmware: string, model: RobotModel): void {
  const arm = variantOfFirmware(firmware);
  const own = variantOfModel(model);
  if (arm === own) return;
  throw new TeleopError(
    'model-mismatch',
    `the arm has firmware ${firmware}, the model "${model.name}" is for ${FIRMWARE[own]}`,
    { hint: `Set \`model: ${MODEL_NAMES[arm]}\` in the rig.` },
  );
}
