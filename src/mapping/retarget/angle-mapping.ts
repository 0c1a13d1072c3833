import { TeleopError } from '../../core/errors.ts';
import { HandChains } from '../../geometry/hand-chains.ts';
import { measurePalm } from '../../geometry/hand-palm.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';
import type { HandReason } from '../../hand/points.ts';
import { createHandMeter, type Flexion, HAND_ANGLES, type HandAngle } from './hand-angles.ts';

export interface AngleSettings {
  enableWrist: boolean;
  gravity: readonly number[];
  flexion: Flexion;
  thumbDipScale: number;
  gain: Record<string, number>;
  biasRad: Record<string, number>;
}

/** Fills the joints of a robot hand with the angles of a person's hand of 21 points. */
export type AngleMapping = (
  pointsM: Float64Array,
  isLeft: boolean,
  outRad: Float64Array,
) => HandReason | null;

/** thumb_dip is not measured but derived. */
type Source = HandAngle | 'thumb_dip';

/** The v2 hand counts its thumb joints from the CMC joint. */
const V2_THUMB: Record<string, Source> = {
  thumb_cmc: 'thumb_mcp',
  thumb_mcp: 'thumb_pip',
};

/** Joint by joint: angle · gain + bias, without limits. Hot path: nothing allocates; one caller at a time. */
export function createAngleMapping(model: RobotModel, settings: AngleSettings): AngleMapping {
  const order = model.joints.map((joint) => joint.name);
  const isV2 = order.includes('thumb_cmc');
  const sources = order.map((name) => sourceOf(name, isV2, model.name));
  const at = sources.map((source) => HAND_ANGLES.indexOf(source === 'thumb_dip' ? 'thumb_pip' : source));
  const isStill = sources.map((source) => source === 'wrist' && !settings.enableWrist);
  const signs = spreadSigns(model);
  const gain = Float64Array.from(order, (name, i) => {
    const share = sources[i] === 'thumb_dip' ? settings.thumbDipScale : (signs.get(name) ?? 1);
    return share * (settings.gain[name] ?? 1);
  });
  const biasRad = Float64Array.from(order, (name) => settings.biasRad[name] ?? 0);
  const meter = createHandMeter(settings.gravity, settings.flexion);
  const angles = new Float64Array(HAND_ANGLES.length);
  return (pointsM, isLeft, outRad) => {
    const reason = meter.measure(pointsM, isLeft, angles);
    if (reason !== null) return reason;
    for (let i = 0; i < order.length; i++)
      outRad[i] = isStill[i] ? model.homeRad[i]! : angles[at[i]!]! * gain[i]! + biasRad[i]!;
    return null;
  };
}

/** −1 where positive angles move a finger away from the thumb: the model decides, as on ORCA hands without one. */
function spreadSigns(model: RobotModel): Map<string, number> {
  const fingers = model.joints.filter(({ name }) => name.endsWith('_abd') && name !== 'thumb_abd');
  const signs = new Map(fingers.map(({ name }) => [name, -1]));
  if (model.hand === undefined) return signs;
  const chains = new HandChains(model);
  measurePalm(chains).roles.forEach(({ does, sign }, e) => {
    if (does === 'spread') signs.set(model.joints[chains.jointOf[e]!]!.name, sign);
  });
  return signs;
}

function sourceOf(name: string, isV2: boolean, model: string): Source {
  const source = isV2 ? (V2_THUMB[name] ?? name) : name;
  if (source === 'thumb_dip' || HAND_ANGLES.includes(source as HandAngle)) return source as Source;
  throw new TeleopError(
    'bad-model',
    `joint "${name}" of ${model} cannot be driven by a person’s joint angle`,
    {
      hint: `Use mode: vectors with a model that has finger geometry, or the joint names ${HAND_ANGLES.join(', ')}.`,
    },
  );
}
