import { createArmMapper } from '../mapping/arm-mapper.ts';
import { createHandMapper } from '../mapping/hand-mapper.ts';
import { surroundingsOf } from '../operator/surroundings.ts';
import { armRigs } from '../rig/arms.ts';
import { refusePlain } from '../rig/link-keys.ts';
import type { Rig } from '../rig/rig.ts';
import { loadModel, rigModel } from '../rig/robot-models.ts';
import { createPolicy } from '../robot/playout/policy.ts';
import { NO_GRIPPER } from '../robot/robot-config.ts';
import { expectClearHome, jointLimits, workspaceOf } from '../robot/supervisor/limits.ts';
import { inputConfigs } from './open-operator.ts';
import { readLimits } from './recorder-thread.ts';
import { loadPlugin, pluginConfig } from './registry.ts';

export type Starting = 'robot' | 'operator' | 'console';

/**
 * Throws the errors of settings that these processes would reject: unknown models, plug-ins and options, limits that
 * contradict the model. Needs no folder, port, key or device, so a rig of another machine can be checked too.
 */
export async function checkSettings(rig: Rig, starting: readonly Starting[]): Promise<void> {
  for (const arm of armRigs(rig)) {
    rigModel(arm.rig);
    if (starting.includes('robot')) await checkRobot(arm.rig);
    if (starting.includes('operator')) await checkOperator(arm.rig);
  }
}

async function checkRobot(rig: Rig): Promise<void> {
  refusePlain('robot', rig);
  const { driver, options, gripper, gripperOptions, playout, pair } = rig.robot;
  pluginConfig('driver', driver, await loadPlugin('driver', driver), options);
  if (gripper !== NO_GRIPPER)
    pluginConfig('gripper', gripper, await loadPlugin('gripper', gripper), gripperOptions);
  createPolicy(playout);
  if (pair !== null) loadModel(pair.model);
  const model = rigModel(rig);
  jointLimits(model, rig.robot);
  workspaceOf(model, rig.robot);
  expectClearHome(model, rig.robot);
  await checkCameras(rig);
}

/** Checks sources and settings; whether a camera is connected shows when it is opened. */
export async function checkCameras({ cameras }: Rig): Promise<void> {
  for (const { source, options } of Object.values(cameras.list))
    pluginConfig('camera', source, await loadPlugin('camera', source), options);
}

async function checkOperator(rig: Rig): Promise<void> {
  refusePlain('operator', rig);
  createPolicy(rig.operator.handPlayout);
  await inputConfigs(rig);
  readLimits(rig.record.limits);
  const model = rigModel(rig);
  if (model.family === 'hand') createHandMapper(model, rig.operator.hand);
  else createArmMapper(model, rig.operator.mapper, surroundingsOf(model, rig.robot));
}
