import { existsSync, readFileSync } from 'node:fs';
import { TeleopError } from '../../core/errors.ts';
import { writeWhole } from '../../files/write-whole.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';
import type { Driver } from '../driver.ts';
import type { RobotConfig } from '../robot-config.ts';
import { type FreeMotion, freeMotionSchema } from './free-motion.ts';
import { FreeMotionDriver } from './free-motion-driver.ts';

export type FreeMotionConfig = RobotConfig['freeMotion'];

/** Adds what the rig says about free motion to a driver: learn it, use it, or neither. */
export function withFreeMotion(driver: Driver, model: RobotModel, config?: FreeMotionConfig): Driver {
  if (config === undefined || config.file === null) return driver;
  const { file, learnS } = config;
  const learnt = learnS > 0 ? null : load(file, model);
  const onLearnt = (found: FreeMotion): void => {
    writeWhole(file, `${JSON.stringify(found)}\n`);
    const worst = Math.max(...found.residualNm);
    console.log(`free motion learnt: ${file}; at most ${worst.toFixed(2)} N·m unexplained on a joint`);
  };
  return new FreeMotionDriver(driver, model, { learnt, learnS, onLearnt });
}

function load(file: string, model: RobotModel): FreeMotion {
  const learn =
    'Learn it again: robot.freeMotion.learnS=60, and move the arm slowly in free space for a minute.';
  if (!existsSync(file)) throw new TeleopError('bad-option', `there is no ${file}`, { hint: learn });
  const found = freeMotionSchema.safeParse(JSON.parse(readFileSync(file, 'utf8')));
  if (found.success && found.data.model === model.name) return found.data;
  throw new TeleopError('bad-option', `${file} is no free-motion model of ${model.name}`, { hint: learn });
}
