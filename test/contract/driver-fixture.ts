import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parse } from 'yaml';
import { packageRoot } from '../../src/files/package-root.ts';
import { type RobotModel, robotModelSchema } from '../../src/geometry/robot-model.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import type { DeviceFixture } from '../../src/testing/device-fixture.ts';

/** `driver-fixtures/<driver>.ts`, default export. */
export interface DriverFixture extends DeviceFixture {
  /** A model in robots/, or the path of a YAML file below the package root. */
  readonly model: string;
}

const folder = path.join(path.dirname(fileURLToPath(import.meta.url)), 'driver-fixtures');

/** The fixture of a driver; null for one that needs no hardware. */
export async function loadFixture(driver: string): Promise<DriverFixture | null> {
  const file = path.join(folder, `${driver}.js`);
  if (!existsSync(file)) return null;
  const module = (await import(pathToFileURL(file).href)) as { default: DriverFixture };
  return module.default;
}

export function fixtureModel(model: string): RobotModel {
  if (!model.includes('/')) return loadModel(model);
  return robotModelSchema.parse(parse(readFileSync(path.join(packageRoot, model), 'utf8')));
}
