import { TeleopError } from '../core/errors.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import { loadModel, modelNames } from '../rig/robot-models.ts';
import type { Given, OptionSpec, Verb } from './arguments.ts';

export const ROBOT_OPTION: OptionSpec = {
  type: 'string',
  value: 'NAME|FILE',
  about: 'model from `farhand robots`, or a YAML or URDF file (arm.urdf#tip_link)',
};

export function robotOption(verb: Verb, given: Given): RobotModel {
  const name = given.values['robot'];
  if (typeof name === 'string' && name !== '') return loadModel(name);
  throw new TeleopError('bad-option', `${verb.name} needs --robot NAME|FILE`, {
    hint: `Shipped models: ${modelNames().join(', ')}.`,
  });
}
